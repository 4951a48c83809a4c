/* Products of 256-bit integers for ARMv7E-M cores, whose UMULL and UMAAL take one cycle whatever they
   multiply (Cortex-M4 TRM, DDI 0439B, table 3-1). UMAAL adds two words to a product and cannot overflow:
   (2^32 - 1)^2 + 2 (2^32 - 1) < 2^64. So a row of products by one word of b needs no flags: each UMAAL
   adds what stands there and what the product before it carried. */
#include "field/words-armv7m.inc"

/* The frame of a product: its low words; words that wait, or a reduction's; what the caller gave. */
#define LOW 0
#define HIGH 16
#define FRAME_BYTES 48
#define OUT 48
#define A 52

#define B r12

/* Four words a0-a3 in r0-r3 by B: to w0-w3 with what w0-w3 and c hold; c is the word above them. */
.macro row w0, w1, w2, w3, c
    umaal   \w0, \c, r0, B
    umaal   \w1, \c, r1, B
    umaal   \w2, \c, r2, B
    umaal   \w3, \c, r3, B
.endm

/* A row where c begins with nothing. */
.macro row_on w0, w1, w2, w3, c
    mov     \c, #0
    row     \w0, \w1, \w2, \w3, \c
.endm

/* Words a0-a3 of a square by another word of it. */
.macro column by, w0, w1, w2, w3, c
    umaal   \w0, \c, r0, \by
    umaal   \w1, \c, r10, \by
    umaal   \w2, \c, r11, \by
    umaal   \w3, \c, lr, \by
.endm

/* A function's beginning, and its end: it keeps the registers that C wants kept, or is inside of one that
   does. */
.macro enter256 inside
    .ifb    \inside
    push    {r4-r11, lr}
    .else
    push    {lr}
    .endif
    push    {r0, r1}
    sub     sp, #FRAME_BYTES
.endm

.macro leave256 inside
    add     sp, #FRAME_BYTES + 8
    .ifb    \inside
    pop     {r4-r11, pc}
    .else
    pop     {pc}
    .endif
.endm

/* r0 = out, r1 = a, r2 = b; then the product in words: 0 to 3 at LOW, 4 to 11 in
   r1-r8, 12 to 15 in r9, r10, r11, lr. a's lower half by b, then its upper half. */
.macro multiply256 inside
    enter256 \inside
    mov     lr, r2
    ldm     r1, {r0-r3}
    ldrd    B, r5, [lr]
    umull   r6, r7, r0, B
    umull   r9, r8, r1, B
    umull   r10, r4, r2, B
    str     r6, [sp, #LOW]
    umull   r11, r6, r3, B
    /* Of the first row's upper words each is what a later row begins with. */
    mov     B, r5
    row     r9, r10, r11, r6, r7
    ldrd    B, r5, [lr, #8]
    str     r9, [sp, #LOW + 4]
    row     r10, r11, r6, r7, r8
    mov     B, r5
    str     r10, [sp, #LOW + 8]
    row     r11, r6, r7, r8, r4
    ldrd    B, r5, [lr, #16]
    str     r11, [sp, #LOW + 12]
    row_on  r6, r7, r8, r4, r9
    mov     B, r5
    row_on  r7, r8, r4, r9, r10
    ldrd    B, r5, [lr, #24]
    row_on  r8, r4, r9, r10, r11
    mov     B, r5
    row_on  r4, r9, r10, r11, r5
    /* Words 4 to 11: r6, r7, r8, r4, r9, r10, r11, r5; the last four wait. */
    str     r5, [sp, #HIGH + 12]
    ldr     r0, [sp, #A]
    ldr     B, [lr]
    ldr     r1, [r0, #20]
    ldr     r2, [r0, #24]
    ldr     r3, [r0, #28]
    ldr     r0, [r0, #16]
    row_on  r6, r7, r8, r4, r5
    ldr     B, [lr, #4]
    str     r6, [sp, #HIGH]
    row_on  r7, r8, r4, r5, r6
    ldr     B, [lr, #8]
    str     r7, [sp, #HIGH + 4]
    row_on  r8, r4, r5, r6, r7
    ldr     B, [lr, #12]
    str     r8, [sp, #HIGH + 8]
    row_on  r4, r5, r6, r7, r8
    ldr     B, [lr, #16]
    row     r5, r6, r7, r8, r9
    ldr     B, [lr, #20]
    row     r6, r7, r8, r9, r10
    ldr     B, [lr, #24]
    row     r7, r8, r9, r10, r11
    ldr     B, [lr, #28]
    ldr     lr, [sp, #HIGH + 12]
    row     r8, r9, r10, r11, lr
    add     r1, sp, #HIGH
    ldm     r1, {r1-r3}
.endm

/* The same for a's square: products of two different words once, doubled in one chain of carries that the
   products between its steps leave alone, then the squares of words. */
.macro square256 inside
    enter256 \inside
    ldr     r2, [r1, #20]
    ldr     r3, [r1, #24]
    ldr     r4, [r1, #28]
    ldm     r1, {r0, r10, r11, lr}
    ldr     r1, [r1, #16]               /* a0, ..., a7: r0, r10, r11, lr, r1, r2, r3, r4 */
    umull   r5, r12, r0, r10
    umull   r9, r8, r0, r11
    umull   r6, r7, r0, lr
    adds    r9, r9, r12
    adc     r8, r8, #0
    adds    r5, r5, r5                  /* word 1 */
    str     r5, [sp, #LOW + 4]
    adcs    r9, r9, r9                  /* word 2 */
    str     r9, [sp, #LOW + 8]
    umaal   r6, r8, r10, r11
    adcs    r6, r6, r6                  /* word 3 */
    str     r6, [sp, #LOW + 12]
    umaal   r7, r8, r10, lr
    mov     r9, #0
    umaal   r8, r9, r11, lr             /* words 4 to 6: r7, r8, r9 */
    mov     r5, #0
    mov     r12, #0
    column  r1, r7, r8, r9, r12, r5     /* words 4 to 8 */
    adcs    r7, r7, r7
    str     r7, [sp, #HIGH]
    mov     r6, #0
    column  r2, r8, r9, r12, r5, r6     /* words 5 to 9 */
    adcs    r8, r8, r8
    str     r8, [sp, #HIGH + 4]
    mov     r7, #0
    column  r3, r9, r12, r5, r6, r7     /* words 6 to 10 */
    adcs    r9, r9, r9
    str     r9, [sp, #HIGH + 8]
    mov     r8, #0
    column  r4, r12, r5, r6, r7, r8     /* words 7 to 11 */
    mov     r9, #0
    umaal   r6, r9, r1, r2
    umaal   r7, r9, r1, r3
    umaal   r8, r9, r1, r4
    mov     r10, #0
    umaal   r8, r10, r2, r3
    umaal   r9, r10, r2, r4
    mov     r11, #0
    umaal   r10, r11, r3, r4
    mov     lr, #0                      /* words 7 to 15: r12, r5-r11, lr */
    .irp    w, r12, r5, r6, r7, r8, r9, r10, r11
    adcs    \w, \w, \w
    .endr
    adc     lr, lr, lr
    umull   r0, r1, r1, r1
    adds    r5, r5, r0
    adcs    r6, r6, r1
    umull   r0, r1, r2, r2
    adcs    r7, r7, r0
    adcs    r8, r8, r1
    umull   r0, r1, r3, r3
    adcs    r9, r9, r0
    adcs    r10, r10, r1
    umull   r0, r1, r4, r4
    adcs    r11, r11, r0
    adc     lr, lr, r1
    ldr     r0, [sp, #A]
    ldrd    r1, r2, [r0]
    umull   r1, r3, r1, r1
    str     r1, [sp, #LOW]
    umull   r2, r4, r2, r2
    ldr     r1, [sp, #LOW + 4]
    adds    r1, r1, r3
    ldr     r3, [sp, #LOW + 8]
    str     r1, [sp, #LOW + 4]
    adcs    r3, r3, r2
    ldr     r2, [sp, #LOW + 12]
    str     r3, [sp, #LOW + 8]
    adcs    r2, r2, r4
    ldrd    r1, r3, [r0, #8]
    str     r2, [sp, #LOW + 12]
    umull   r1, r2, r1, r1
    umull   r3, r4, r3, r3
    ldr     r0, [sp, #HIGH]
    adcs    r1, r1, r0
    ldr     r0, [sp, #HIGH + 4]
    adcs    r2, r2, r0
    ldr     r0, [sp, #HIGH + 8]
    adcs    r3, r3, r0
    adcs    r4, r4, r12
    .irp    w, r5, r6, r7, r8, r9, r10, r11
    adcs    \w, \w, #0
    .endr
    adc     lr, lr, #0
.endm
