/* The field of secp160r1 (SEC 2, version 1.0, 2.4.2), p = 2^160 - 2^31 - 1, for ARMv7-M cores whose
   UMULL takes a varying time. Elements are five words, any number below 2^160, in Montgomery form:
   x 2^160 mod p stands for x. Every function takes the same time for all operands.

   As in multiply-armv7m.S, an integer is split into its even halfwords Ae and its odd ones Ao, A =
   Ae + 2^16 Ao, and AB = P + 2^16 Q, P = Ae Be + 2^32 Ao Bo, Q = Ae Bo + Ao Be. Five halfwords of B
   stay in registers; words below and above the current row are kept in the frame. */
    .syntax unified
    .thumb

#define T r7
#define B0 r8
#define B1 r9
#define B2 r10
#define B3 r11
#define B4 r12
#define X lr

/* The frame: P; words of the sum in progress; a; the arguments. */
#define P 0
#define S 40
#define COPY 80
#define FRAME_BYTES 100
#define OUT 100
#define A 104
#define B 108

/* Loads every second halfword of b, or of a's copy, from an offset. */
.macro halfwords_b first
    ldr     T, [sp, #B]
    ldrh    B0, [T, #\first]
    ldrh    B1, [T, #\first + 4]
    ldrh    B2, [T, #\first + 8]
    ldrh    B3, [T, #\first + 12]
    ldrh    B4, [T, #\first + 16]
.endm

.macro halfwords_copy first
    ldrh    B0, [sp, #COPY + \first]
    ldrh    B1, [sp, #COPY + \first + 4]
    ldrh    B2, [sp, #COPY + \first + 8]
    ldrh    B3, [sp, #COPY + \first + 12]
    ldrh    B4, [sp, #COPY + \first + 16]
.endm

/* w3 ... w0 += X * (B3 ... B0), w4 = or += X * B4 and the carry; the carry out stays in the
   flags. */
.macro row_four w0, w1, w2, w3
    mul     T, X, B0
    adds    \w0, \w0, T
    mul     T, X, B1
    adcs    \w1, \w1, T
    mul     T, X, B2
    adcs    \w2, \w2, T
    mul     T, X, B3
    adcs    \w3, \w3, T
.endm

/* A row whose highest word is new: product and carry fit it, (2^16 - 1)^2 + 1 < 2^32. */
.macro row_top w0, w1, w2, w3, w4
    row_four \w0, \w1, \w2, \w3
    mul     \w4, X, B4
    adc     \w4, \w4, #0
.endm

.macro row_all w0, w1, w2, w3, w4
    row_four \w0, \w1, \w2, \w3
    mul     T, X, B4
    adcs    \w4, \w4, T
.endm

/* The last row, whose lowest word is in the frame, to B0. */
.macro row_last at, w1, w2, w3, w4
    mul     B0, X, B0
    ldr     T, [sp, #\at]
    adds    B0, B0, T
    mul     T, X, B1
    adcs    \w1, \w1, T
    mul     T, X, B2
    adcs    \w2, \w2, T
    mul     T, X, B3
    adcs    \w3, \w3, T
    mul     T, X, B4
    adcs    \w4, \w4, T
.endm

/* Ae B in words 0 to 8: 0 to 3 in the frame, then r4, r5, r6, r0, r1. */
.macro first_rows to
    ldrh    X, [sp, #COPY]
    mul     r0, X, B0
    mul     r1, X, B1
    mul     r2, X, B2
    mul     r3, X, B3
    mul     r4, X, B4
    str     r0, [sp, #\to]
    ldrh    X, [sp, #COPY + 4]
    row_top r1, r2, r3, r4, r5
    str     r1, [sp, #\to + 4]
    ldrh    X, [sp, #COPY + 8]
    row_top r2, r3, r4, r5, r6
    str     r2, [sp, #\to + 8]
    ldrh    X, [sp, #COPY + 12]
    row_top r3, r4, r5, r6, r0
    str     r3, [sp, #\to + 12]
    ldrh    X, [sp, #COPY + 16]
    row_top r4, r5, r6, r0, r1
.endm

/* Saves words 8 and 9, and the carry out of word 7. */
.macro spill
    strd    r1, r2, [sp, #S + 32]
    mov     r2, #0
.endm

/* Reduces the product P + 2^n (q9 ... q0), n = 16 or 17, divided by 2^160 modulo p, to out
   (Montgomery, "Modular multiplication without trial division", 1985). M with M + 2^31 M = the low
   half L modulo 2^160 clears that half: the result is the high half + M - (M + 2^31 M - L) / 2^160,
   below 2^160 + p. Word i of 2^31 M consists of words i and i - 1 of M; from word i it needs only
   the lowest bit, which is known first. f0 to f3 are free. */
.macro reduce n, q0, q1, q2, q3, q4, q5, q6, q7, q8, q9, f0, f1, f2, f3
    lsl     \q9, \q9, #\n
    orr     \q9, \q9, \q8, lsr #32 - \n
    lsl     \q8, \q8, #\n
    orr     \q8, \q8, \q7, lsr #32 - \n
    lsl     \q7, \q7, #\n
    orr     \q7, \q7, \q6, lsr #32 - \n
    lsl     \q6, \q6, #\n
    orr     \q6, \q6, \q5, lsr #32 - \n
    lsl     \q5, \q5, #\n
    orr     \q5, \q5, \q4, lsr #32 - \n
    lsl     \q4, \q4, #\n
    orr     \q4, \q4, \q3, lsr #32 - \n
    lsl     \q3, \q3, #\n
    orr     \q3, \q3, \q2, lsr #32 - \n
    lsl     \q2, \q2, #\n
    orr     \q2, \q2, \q1, lsr #32 - \n
    lsl     \q1, \q1, #\n
    orr     \q1, \q1, \q0, lsr #32 - \n
    lsl     \q0, \q0, #\n
    add     \f3, sp, #P
    ldmia   \f3!, {\f0, \f1, \f2}
    adds    \q0, \q0, \f0
    adcs    \q1, \q1, \f1
    adcs    \q2, \q2, \f2
    ldmia   \f3!, {\f0, \f1, \f2}
    adcs    \q3, \q3, \f0
    adcs    \q4, \q4, \f1
    adcs    \q5, \q5, \f2
    ldmia   \f3, {\f0, \f1, \f2, \f3}
    adcs    \q6, \q6, \f0
    adcs    \q7, \q7, \f1
    adcs    \q8, \q8, \f2
    adc     \q9, \q9, \f3
    subs    \q0, \q0, \q0, lsl #31
    clear   \q0, \q1, \f0, \f1
    clear   \q1, \q2, \f0, \f1
    clear   \q2, \q3, \f0, \f1
    clear   \q3, \q4, \f0, \f1
    sbcs    \q5, \q5, \q4, lsr #1
    sbcs    \q6, \q6, #0
    sbcs    \q7, \q7, #0
    sbcs    \q8, \q8, #0
    sbcs    \q9, \q9, #0
    sbc     \f0, \f0, \f0
    adds    \q5, \q5, \q0
    adcs    \q6, \q6, \q1
    adcs    \q7, \q7, \q2
    adcs    \q8, \q8, \q3
    adcs    \q9, \q9, \q4
    ldr     \f1, [sp, #OUT]
    adc     \f0, \f0, #0                /* 1 if it exceeded 160 bits: 2^160 = 2^31 + 1 */
    orr     \f0, \f0, \f0, lsl #31
    adds    \q5, \q5, \f0
    str     \q5, [\f1]
    adcs    \q6, \q6, #0
    str     \q6, [\f1, #4]
    adcs    \q7, \q7, #0
    str     \q7, [\f1, #8]
    adcs    \q8, \q8, #0
    str     \q8, [\f1, #12]
    adc     \q9, \q9, #0
    str     \q9, [\f1, #16]
    add     sp, #FRAME_BYTES + 12
    pop     {r4-r11, pc}
.endm

/* Turns a word of L into one of M; below is M's previous word. */
.macro clear below, word, f0, f1
    sbc     \f0, \word, \below, lsr #1
    lsr     \f1, \below, #1
    orr     \f1, \f1, \f0, lsl #31
    sbcs    \word, \word, \f1
.endm

.macro enter
    push    {r0-r2, r4-r11, lr}
    sub     sp, #FRAME_BYTES
    ldmia   r1, {r3-r7}
    add     r0, sp, #COPY
    stmia   r0, {r3-r7}
.endm

/* A function of the field. If two primitives of a curve include it, one copy is linked. */
.macro function name
    .section .text.\name, "ax"
    .balign 4
    .thumb_func
    .weak   \name
    .type   \name, %function
\name:
.endm

/* void secp160r1_multiply(uint32_t out[5], const uint32_t a[5], const uint32_t b[5]); */
function secp160r1_multiply
    enter
    halfwords_b 0
    first_rows S                        /* Ae Be */
    halfwords_b 2
    ldrh    X, [sp, #COPY + 18]         /* + 2^32 Ao Bo */
    row_top r5, r6, r0, r1, r2
    ldrh    X, [sp, #COPY + 14]
    row_all r4, r5, r6, r0, r1
    adc     r2, r2, #0
    ldrh    X, [sp, #COPY + 10]
    ldr     r3, [sp, #S + 12]
    row_all r3, r4, r5, r6, r0
    adcs    r1, r1, #0
    adc     r2, r2, #0
    spill
    ldrh    X, [sp, #COPY + 6]
    ldr     r1, [sp, #S + 8]
    row_all r1, r3, r4, r5, r6
    adcs    r0, r0, #0
    adc     r2, r2, #0
    ldrh    X, [sp, #COPY + 2]
    row_last S + 4, r1, r3, r4, r5
    adcs    r6, r6, #0
    adcs    r0, r0, #0
    adc     r2, r2, #0
    ldr     r7, [sp, #S]
    ldrd    r9, r10, [sp, #S + 32]
    adds    r9, r9, r2
    adc     r10, r10, #0
    strd    r7, r8, [sp, #P]
    add     r2, sp, #P + 8
    stmia   r2!, {r1, r3-r6}
    stmia   r2, {r0, r9, r10}
    halfwords_b 2
    first_rows S                        /* Ae Bo */
    halfwords_b 0
    ldrh    X, [sp, #COPY + 18]         /* + Ao Be */
    mov     r2, #0
    row_all r4, r5, r6, r0, r1
    adc     r2, r2, #0
    ldrh    X, [sp, #COPY + 14]
    ldr     r3, [sp, #S + 12]
    row_all r3, r4, r5, r6, r0
    adcs    r1, r1, #0
    adc     r2, r2, #0
    spill
    ldrh    X, [sp, #COPY + 10]
    ldr     r1, [sp, #S + 8]
    row_all r1, r3, r4, r5, r6
    adcs    r0, r0, #0
    str     r0, [sp, #S + 28]
    adc     r2, r2, #0
    ldrh    X, [sp, #COPY + 6]
    ldr     r0, [sp, #S + 4]
    row_all r0, r1, r3, r4, r5
    ldr     T, [sp, #S + 28]
    adcs    r6, r6, #0
    adcs    T, T, #0
    str     T, [sp, #S + 28]
    adc     r2, r2, #0
    ldrh    X, [sp, #COPY + 2]
    row_last S, r0, r1, r3, r4
    ldr     r7, [sp, #S + 28]
    ldrd    r9, r10, [sp, #S + 32]
    adcs    r5, r5, #0
    adcs    r6, r6, #0
    adcs    r7, r7, #0
    adc     r2, r2, #0
    adds    r9, r9, r2
    adc     r10, r10, #0
    reduce  16, r8, r0, r1, r3, r4, r5, r6, r7, r9, r10, r2, r11, r12, lr

/* void secp160r1_square(uint32_t out[5], const uint32_t a[5])

   Products of two different halfwords of the same parity are computed once, then doubled; Q / 2 =
   Ae Ao. */
function secp160r1_square
    enter
    halfwords_copy 0
    mul     r0, B0, B1                  /* words 1 to 7 of Ae's */
    mul     r1, B0, B2
    mul     r2, B0, B3
    mul     r3, B0, B4
    mul     T, B1, B2
    adds    r2, r2, T
    mul     T, B1, B3
    adcs    r3, r3, T
    mul     r4, B1, B4
    adc     r4, r4, #0
    mul     T, B2, B3
    adds    r4, r4, T
    mul     r5, B2, B4
    adc     r5, r5, #0
    mul     r6, B3, B4
    halfwords_copy 2
    mul     T, B0, B1                   /* words 2 to 8, which is lr, of Ao's */
    adds    r1, r1, T
    mul     T, B0, B2
    adcs    r2, r2, T
    mul     T, B0, B3
    adcs    r3, r3, T
    mul     T, B0, B4
    adcs    r4, r4, T
    mul     T, B1, B4
    adcs    r5, r5, T
    mul     T, B2, B4
    adcs    r6, r6, T
    mul     lr, B3, B4
    adc     lr, lr, #0
    mul     T, B1, B2
    adds    r3, r3, T
    mul     T, B1, B3
    adcs    r4, r4, T
    mul     T, B2, B3
    adcs    r5, r5, T
    adcs    r6, r6, #0
    adc     lr, lr, #0
    mov     r7, #0
    adds    r0, r0, r0
    adcs    r1, r1, r1
    adcs    r2, r2, r2
    adcs    r3, r3, r3
    adcs    r4, r4, r4
    adcs    r5, r5, r5
    adcs    r6, r6, r6
    adcs    lr, lr, lr
    adc     r7, r7, #0
    mul     B0, B0, B0                  /* squares: of an odd halfword, and of the even one above
                                           it */
    adds    r0, r0, B0
    ldrh    B0, [sp, #COPY + 4]
    mul     B0, B0, B0
    adcs    r1, r1, B0
    ldrh    B0, [sp, #COPY + 8]
    mul     B1, B1, B1
    adcs    r2, r2, B1
    mul     B0, B0, B0
    adcs    r3, r3, B0
    ldrh    B0, [sp, #COPY + 12]
    mul     B2, B2, B2
    adcs    r4, r4, B2
    mul     B0, B0, B0
    adcs    r5, r5, B0
    ldrh    B0, [sp, #COPY + 16]
    mul     B3, B3, B3
    adcs    r6, r6, B3
    mul     B0, B0, B0
    adcs    lr, lr, B0
    ldrh    B0, [sp, #COPY]
    mul     B4, B4, B4
    adc     r7, r7, B4
    mul     B0, B0, B0
    str     B0, [sp, #P]
    add     B1, sp, #P + 4
    stmia   B1!, {r0-r6}
    strd    lr, r7, [B1]
    halfwords_copy 2
    first_rows S
    ldrd    r8, r9, [sp, #S]
    mov     r7, #0
    reduce  17, r8, r9, r2, r3, r4, r5, r6, r0, r1, r7, r10, r11, r12, lr

/* void secp160r1_add(uint32_t out[5], const uint32_t a[5], const uint32_t b[5])

   2^160 = 2^31 + 1, which is added if the sum exceeded 160 bits, and again if it still does: the
   rest is then small. */
function secp160r1_add
    push    {r4-r11, lr}
    ldmia   r1, {r3-r7}
    ldmia   r2, {r8-r12}
    adds    r3, r3, r8
    adcs    r4, r4, r9
    adcs    r5, r5, r10
    adcs    r6, r6, r11
    adcs    r7, r7, r12
    mov     r1, #0
    mov     r2, #0
    adc     r1, r1, #0
    orr     r1, r1, r1, lsl #31
    adds    r3, r3, r1
    adcs    r4, r4, #0
    adcs    r5, r5, #0
    adcs    r6, r6, #0
    adcs    r7, r7, #0
    adc     r2, r2, #0
    orr     r2, r2, r2, lsl #31
    adds    r3, r3, r2
    adc     r4, r4, #0
    stmia   r0, {r3-r7}
    pop     {r4-r11, pc}

/* void secp160r1_subtract(uint32_t out[5], const uint32_t a[5], const uint32_t b[5]); */
function secp160r1_subtract
    push    {r4-r11, lr}
    ldmia   r1, {r3-r7}
    ldmia   r2, {r8-r12}
    subs    r3, r3, r8
    sbcs    r4, r4, r9
    sbcs    r5, r5, r10
    sbcs    r6, r6, r11
    sbcs    r7, r7, r12
    sbc     r1, r1, r1
    lsr     r1, r1, #31
    orr     r1, r1, r1, lsl #31
    subs    r3, r3, r1
    sbcs    r4, r4, #0
    sbcs    r5, r5, #0
    sbcs    r6, r6, #0
    sbcs    r7, r7, #0
    sbc     r1, r1, r1
    lsr     r1, r1, #31
    orr     r1, r1, r1, lsl #31
    subs    r3, r3, r1
    sbc     r4, r4, #0
    stmia   r0, {r3-r7}
    pop     {r4-r11, pc}
