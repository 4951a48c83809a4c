/* Products modulo any odd 256-bit number in Montgomery form ("Modular multiplication without trial
   division", 1985) for ARMv7E-M, one word of b at a time: t = (t + a b_i + m modulus) / 2^32, where
   m clears the lowest word. t stays below 2^256 + the modulus: nine words, the ninth 0 or 1. */
#include "field/words-armv7m.inc"

/* The frame: b; t's ninth word; a temporary carry above t's eighth word; then the arguments. */
#define B 0
#define NINTH 32
#define ABOVE 36
#define FRAME_BYTES 44
#define OUT 44
#define INVERSE 84

/* t += lr times the number at r\from; r12 is the carry out. Changes r2, r3. */
.macro add_row from, t0, t1, t2, t3, t4, t5, t6, t7
    mov     r12, #0
    ldrd    r2, r3, [\from]
    umaal   \t0, r12, r2, lr
    umaal   \t1, r12, r3, lr
    ldrd    r2, r3, [\from, #8]
    umaal   \t2, r12, r2, lr
    umaal   \t3, r12, r3, lr
    ldrd    r2, r3, [\from, #16]
    umaal   \t4, r12, r2, lr
    umaal   \t5, r12, r3, lr
    ldrd    r2, r3, [\from, #24]
    umaal   \t6, r12, r2, lr
    umaal   \t7, r12, r3, lr
.endm

/* One word of b: t's lowest word becomes the highest one. */
.macro word_of_b i, t0, t1, t2, t3, t4, t5, t6, t7
    ldr     lr, [sp, #B + 4 * \i]
    add_row r0, \t0, \t1, \t2, \t3, \t4, \t5, \t6, \t7
    ldr     r2, [sp, #NINTH]
    ldr     lr, [sp, #INVERSE]
    adds    r12, r12, r2
    mov     r3, #0
    adc     r3, r3, #0
    mul     lr, lr, \t0
    strd    r12, r3, [sp, #ABOVE]
    add_row r1, \t0, \t1, \t2, \t3, \t4, \t5, \t6, \t7
    ldrd    r2, r3, [sp, #ABOVE]
    adds    \t0, r2, r12
    adc     r3, r3, #0
    str     r3, [sp, #NINTH]
.endm

/* void montgomery_multiply256(uint32_t out[8], const uint32_t a[8], const uint32_t b[8],
                               const uint32_t modulus[8], uint32_t inverse)

   inverse = -1 / modulus modulo 2^32; out is eight words and need not be below the modulus. */
function montgomery_multiply256
    push    {r0, r4-r11, lr}
    sub     sp, #FRAME_BYTES
    ldmia   r2, {r4-r11}
    stmia   sp, {r4-r11}
    mov     r0, r1
    mov     r1, r3
    mov     r4, #0
    str     r4, [sp, #NINTH]
    .irp    t, r5, r6, r7, r8, r9, r10, r11
    mov     \t, #0
    .endr
    word_of_b 0, r4, r5, r6, r7, r8, r9, r10, r11
    word_of_b 1, r5, r6, r7, r8, r9, r10, r11, r4
    word_of_b 2, r6, r7, r8, r9, r10, r11, r4, r5
    word_of_b 3, r7, r8, r9, r10, r11, r4, r5, r6
    word_of_b 4, r8, r9, r10, r11, r4, r5, r6, r7
    word_of_b 5, r9, r10, r11, r4, r5, r6, r7, r8
    word_of_b 6, r10, r11, r4, r5, r6, r7, r8, r9
    word_of_b 7, r11, r4, r5, r6, r7, r8, r9, r10
    /* Subtract the modulus if the ninth word is 1. */
    rsb     r12, r3, #0
    ldr     r0, [sp, #OUT]
    ldr     r2, [r1]
    and     r2, r2, r12
    subs    r4, r4, r2
    .irp    t, r5, r6, r7, r8, r9, r10, r11
    ldr     r2, [r1, #4]!
    and     r2, r2, r12
    sbcs    \t, \t, r2
    .endr
    stmia   r0, {r4-r11}
    add     sp, #FRAME_BYTES + 4
    pop     {r4-r11, pc}
