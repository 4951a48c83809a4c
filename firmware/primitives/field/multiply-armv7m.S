/* Products of 256-bit integers for ARMv7-M cores whose UMULL takes a time that depends on its
   operands (Cortex-M3 TRM, "Instruction set summary": UMULL, SMULL 3 to 5 cycles, UMLAL, SMLAL 4 to
   7). MUL takes one cycle for all operands and preserves the flags, so a row of 16 x 16-bit
   products whose operands are 32 bits apart is added in one chain of carries: MUL, ADCS, MUL, ADCS.

   A 128-bit integer is split into its even halfwords Ae and its odd ones Ao, A = Ae + 2^16 Ao; so
   is B. Then AB = (Ae Be + 2^32 Ao Bo) + 2^16 (Ae Bo + Ao Be), and all four products have that
   form. Subtractive Karatsuba makes 256 bits from two halves of 128: nothing carries out of 128
   bits, and the sign is a mask. */
#include "field/words-armv7m.inc"

#define T r7
#define B0 r8
#define B1 r9
#define B2 r10
#define B3 r11
#define X r12

/* acc[3..0] += or = X * B. The carry out of the highest word stays in the flags or, if that word is
   new, in it. */
.macro row_new w0, w1, w2, w3
    mul     \w0, X, B0
    mul     \w1, X, B1
    mul     \w2, X, B2
    mul     \w3, X, B3
.endm

.macro row_on w0, w1, w2
    mul     T, X, B0
    adds    \w0, \w0, T
    mul     T, X, B1
    adcs    \w1, \w1, T
    mul     T, X, B2
    adcs    \w2, \w2, T
.endm

/* A row whose highest word is new: product and carry fit it, (2^16 - 1)^2 + 1 < 2^32. */
.macro row_top w0, w1, w2, w3
    row_on  \w0, \w1, \w2
    mul     \w3, X, B3
    adc     \w3, \w3, #0
.endm

.macro row_all w0, w1, w2, w3
    row_on  \w0, \w1, \w2
    mul     T, X, B3
    adcs    \w3, \w3, T
.endm

/* Loads every second halfword from an offset, in the frame or from a pointer in it. */
.macro halfwords from, first
    .ifc    \from, frame
    ldrh    B0, [sp, #\first]
    ldrh    B1, [sp, #\first + 4]
    ldrh    B2, [sp, #\first + 8]
    ldrh    B3, [sp, #\first + 12]
    .else
    ldr     T, [sp, #\from]
    ldrh    B0, [T, #\first]
    ldrh    B1, [T, #\first + 4]
    ldrh    B2, [T, #\first + 8]
    ldrh    B3, [T, #\first + 12]
    .endif
.endm

/* Adds 2^n (lr r6 ... r0), n = 16 or 17, to the words at the frame's \to. */
.macro finish to, n
    lsl     lr, lr, #\n
    orr     lr, lr, r6, lsr #32 - \n
    lsl     r6, r6, #\n
    orr     r6, r6, r5, lsr #32 - \n
    lsl     r5, r5, #\n
    orr     r5, r5, r4, lsr #32 - \n
    lsl     r4, r4, #\n
    orr     r4, r4, r3, lsr #32 - \n
    lsl     r3, r3, #\n
    orr     r3, r3, r2, lsr #32 - \n
    lsl     r2, r2, #\n
    orr     r2, r2, r1, lsr #32 - \n
    lsl     r1, r1, #\n
    orr     r1, r1, r0, lsr #32 - \n
    lsl     r0, r0, #\n
    add     r12, sp, #\to
    ldmia   r12, {r7-r11}
    adds    r7, r7, r0
    adcs    r8, r8, r1
    adcs    r9, r9, r2
    adcs    r10, r10, r3
    adcs    r11, r11, r4
    stmia   r12!, {r7-r11}
    ldmia   r12, {r7-r9}
    adcs    r7, r7, r5
    adcs    r8, r8, r6
    adc     r9, r9, lr
    stmia   r12, {r7-r9}
.endm

/* a * b of 128 bits to the frame's \to: a is at register \a + \ao, b at \bo in the frame or from a
   pointer in it. Changes every register but sp. */
.macro product128 to, a, ao, b, bo
    halfwords \b, \bo
    ldrh    X, [\a, #\ao]                /* Ae Be: words 0 to 6 */
    row_new r0, r1, r2, r3
    ldrh    X, [\a, #\ao + 4]
    row_top r1, r2, r3, r4
    ldrh    X, [\a, #\ao + 8]
    row_top r2, r3, r4, r5
    ldrh    X, [\a, #\ao + 12]
    row_top r3, r4, r5, r6
    str     r0, [sp, #\to]
    halfwords \b, \bo + 2
    ldrh    X, [\a, #\ao + 14]           /* + 2^32 Ao Bo: words 1 to 7, which is r0 */
    row_top r4, r5, r6, r0
    ldrh    X, [\a, #\ao + 10]
    row_all r3, r4, r5, r6
    adc     r0, r0, #0
    ldrh    X, [\a, #\ao + 6]
    row_all r2, r3, r4, r5
    adcs    r6, r6, #0
    adc     r0, r0, #0
    ldrh    X, [\a, #\ao + 2]
    row_all r1, r2, r3, r4
    adcs    r5, r5, #0
    adcs    r6, r6, #0
    adc     r0, r0, #0
    str     r0, [sp, #\to + 28]
    add     r0, sp, #\to + 4
    stmia   r0, {r1-r6}
    ldrh    X, [\a, #\ao]                /* Ae Bo: words 0 to 6 */
    row_new r0, r1, r2, r3
    ldrh    X, [\a, #\ao + 4]
    row_top r1, r2, r3, r4
    ldrh    X, [\a, #\ao + 8]
    row_top r2, r3, r4, r5
    ldrh    X, [\a, #\ao + 12]
    row_top r3, r4, r5, r6
    halfwords \b, \bo
    ldrh    X, [\a, #\ao + 2]            /* + Ao Be: words 0 to 7, which is lr; it is 0 or 1 */
    row_all r0, r1, r2, r3
    adcs    r4, r4, #0
    adcs    r5, r5, #0
    adc     r6, r6, #0
    ldrh    X, [\a, #\ao + 6]
    row_all r1, r2, r3, r4
    adcs    r5, r5, #0
    adc     r6, r6, #0
    ldrh    X, [\a, #\ao + 10]
    row_all r2, r3, r4, r5
    adc     r6, r6, #0
    ldrh    X, [\a, #\ao + 14]
    mov     lr, #0
    row_all r3, r4, r5, r6
    adc     lr, lr, #0
    finish  \to, 16
.endm

/* The same for a's square: products of two different halfwords once, then doubled. */
.macro square128 to, a, ao
    ldrh    B0, [\a, #\ao]
    ldrh    B1, [\a, #\ao + 4]
    ldrh    B2, [\a, #\ao + 8]
    ldrh    B3, [\a, #\ao + 12]
    mul     r1, B0, B1
    mul     r2, B0, B2
    mul     r3, B0, B3
    mul     T, B1, B2
    adds    r3, r3, T
    mul     r4, B1, B3
    adc     r4, r4, #0
    mul     r5, B2, B3
    ldrh    B0, [\a, #\ao + 2]
    ldrh    B1, [\a, #\ao + 6]
    ldrh    B2, [\a, #\ao + 10]
    ldrh    B3, [\a, #\ao + 14]
    ldrh    X, [\a, #\ao]
    mul     T, B0, B1
    adds    r2, r2, T
    mul     T, B0, B2
    adcs    r3, r3, T
    mul     T, B0, B3
    adcs    r4, r4, T
    mul     T, B1, B3
    adcs    r5, r5, T
    mul     r6, B2, B3
    adc     r6, r6, #0
    mul     T, B1, B2
    adds    r4, r4, T
    adcs    r5, r5, #0
    adc     r6, r6, #0
    mov     r0, #0
    adds    r1, r1, r1
    adcs    r2, r2, r2
    adcs    r3, r3, r3
    adcs    r4, r4, r4
    adcs    r5, r5, r5
    adcs    r6, r6, r6
    adc     r0, r0, #0
    mul     T, X, X
    ldrh    X, [\a, #\ao + 4]
    str     T, [sp, #\to]
    mul     T, B0, B0
    adds    r1, r1, T
    mul     T, X, X
    adcs    r2, r2, T
    ldrh    X, [\a, #\ao + 8]
    mul     T, B1, B1
    adcs    r3, r3, T
    mul     T, X, X
    adcs    r4, r4, T
    ldrh    X, [\a, #\ao + 12]
    mul     T, B2, B2
    adcs    r5, r5, T
    mul     T, X, X
    adcs    r6, r6, T
    mul     T, B3, B3
    adc     r0, r0, T
    str     r0, [sp, #\to + 28]
    add     r0, sp, #\to + 4
    stmia   r0, {r1-r6}
    ldrh    X, [\a, #\ao]
    row_new r0, r1, r2, r3
    ldrh    X, [\a, #\ao + 4]
    row_top r1, r2, r3, r4
    ldrh    X, [\a, #\ao + 8]
    row_top r2, r3, r4, r5
    ldrh    X, [\a, #\ao + 12]
    row_top r3, r4, r5, r6
    mov     lr, #0
    finish  \to, 17
.endm

/* The frame of a 256-bit product: products of the low halves, of the high halves and of the
   differences; the differences; the sign; the arguments. */
#define LOW 0
#define HIGH 32
#define MIDDLE 64
#define DIFFERENCE_A 96
#define DIFFERENCE_B 112
#define SIGN 128
#define FRAME_BYTES 136
#define OUT 136
#define A 140
#define B 144

/* r3-r6 = |low half - high half| of the integer at r12; r12 = all ones if the difference was
   negative. */
.macro difference
    ldmia   r12, {r3-r10}
    subs    r3, r3, r7
    sbcs    r4, r4, r8
    sbcs    r5, r5, r9
    sbcs    r6, r6, r10
    sbc     r12, r12, r12
    eor     r3, r3, r12
    eor     r4, r4, r12
    eor     r5, r5, r12
    eor     r6, r6, r12
    adds    r3, r3, r12, lsr #31
    adcs    r4, r4, #0
    adcs    r5, r5, #0
    adc     r6, r6, #0
.endm

/* The product in words: 0 to 3 at LOW, 4 to 11 in r1-r8, 12 to 15 in r9, r10, r11, lr. It is LOW +
   2^128 (LOW + HIGH +- MIDDLE) + 2^256 HIGH; + if lr is 0, - if it is all ones. */
.macro combine
    add     r12, sp, #LOW
    ldmia   r12, {r1-r12}
    adds    r5, r5, r9                  /* t = r5-r8 = LOW's high half + HIGH's low half */
    adcs    r6, r6, r10
    adcs    r7, r7, r11
    adcs    r8, r8, r12
    mov     r12, #0
    adc     r12, r12, #0
    adds    r1, r1, r5                  /* r1-r8 = t + LOW's low half + 2^128 (t + HIGH's high
                                           half) */
    adcs    r2, r2, r6
    adcs    r3, r3, r7
    adcs    r4, r4, r8
    add     r9, sp, #HIGH + 16
    ldmia   r9, {r0, r9-r11}
    adcs    r5, r5, r0
    adcs    r6, r6, r9
    adcs    r7, r7, r10
    adcs    r8, r8, r11
    mov     r0, #0
    adc     r0, r0, #0
    adds    r5, r5, r12                 /* t's carry, both times */
    adcs    r6, r6, #0
    adcs    r7, r7, #0
    adcs    r8, r8, #0
    adc     r12, r0, r12
    add     r9, sp, #MIDDLE
    ldmia   r9, {r0, r9-r11}
    eor     r0, r0, lr
    eor     r9, r9, lr
    eor     r10, r10, lr
    eor     r11, r11, lr
    cmp     lr, #1                      /* sets the carry if lr is not 0 */
    adcs    r1, r1, r0
    adcs    r2, r2, r9
    adcs    r3, r3, r10
    adcs    r4, r4, r11
    add     r9, sp, #MIDDLE + 16
    ldmia   r9, {r0, r9-r11}
    eor     r0, r0, lr
    eor     r9, r9, lr
    eor     r10, r10, lr
    eor     r11, r11, lr
    adcs    r5, r5, r0
    adcs    r6, r6, r9
    adcs    r7, r7, r10
    adcs    r8, r8, r11
    adc     r12, r12, lr
    add     r9, sp, #HIGH + 16
    ldmia   r9, {r9-r11, lr}
    adds    r9, r9, r12
    adcs    r10, r10, #0
    adcs    r11, r11, #0
    adc     lr, lr, #0
.endm

/* The start of a function: r0 = out, r1 = a, r2 = b; then the product as combine leaves it. */
.macro multiply256
    push    {r0-r2, r4-r11, lr}
    sub     sp, #FRAME_BYTES
    mov     r12, r1
    difference
    strd    r3, r4, [sp, #DIFFERENCE_A]
    strd    r5, r6, [sp, #DIFFERENCE_A + 8]
    mov     r0, r12
    mov     r12, r2
    difference
    strd    r3, r4, [sp, #DIFFERENCE_B]
    strd    r5, r6, [sp, #DIFFERENCE_B + 8]
    eor     r12, r12, r0
    mvn     r12, r12                    /* equal signs: MIDDLE is subtracted */
    str     r12, [sp, #SIGN]
    mov     lr, r1
    product128 LOW, lr, 0, B, 0
    ldr     lr, [sp, #A]
    product128 HIGH, lr, 16, B, 16
    product128 MIDDLE, sp, DIFFERENCE_A, frame, DIFFERENCE_B
    ldr     lr, [sp, #SIGN]
    combine
.endm

/* The same for a's square. */
.macro square256
    push    {r0-r2, r4-r11, lr}
    sub     sp, #FRAME_BYTES
    mov     r12, r1
    difference
    strd    r3, r4, [sp, #DIFFERENCE_A]
    strd    r5, r6, [sp, #DIFFERENCE_A + 8]
    mov     lr, r1
    square128 LOW, lr, 0
    ldr     lr, [sp, #A]
    square128 HIGH, lr, 16
    square128 MIDDLE, sp, DIFFERENCE_A
    mov     lr, #-1
    combine
.endm

/* The end of a function. */
.macro leave256
    add     sp, #FRAME_BYTES + 12
    pop     {r4-r11, pc}
.endm
