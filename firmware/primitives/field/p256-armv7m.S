/* The field of P-256 (SP 800-186, 3.2.1.3), p = 2^256 - 2^224 + 2^192 + 2^96 - 1, for ARMv7-M cores whose
   UMULL varies. Elements are eight words, any number below 2^256, in Montgomery's form: x 2^256 mod p
   stands for x. Every function takes the same time whatever its operands. */
#include "field/multiply-armv7m.S"

/* w7 ... w0 - p where the mask is all ones; the flags hold what was borrowed. */
.macro subtract_p w0, w1, w2, w3, w4, w5, w6, w7, mask
    subs    \w0, \w0, \mask
    sbcs    \w1, \w1, \mask
    sbcs    \w2, \w2, \mask
    sbcs    \w3, \w3, #0
    sbcs    \w4, \w4, #0
    sbcs    \w5, \w5, #0
    sbcs    \w6, \w6, \mask, lsr #31
    sbcs    \w7, \w7, \mask
.endm

/* The product as combine leaves it, over 2^256 modulo p, to out (Montgomery, "Modular multiplication
   without trial division", 1985). Since p = -1 modulo 2^96, the lowest three words M are themselves the
   multiple of p that clears them: + 2^96 M + 2^192 M - 2^224 M + 2^256 M. Three words, three, and two. */
.macro reduce
    add     r0, sp, #HIGH
    stmia   r0, {r9-r11, lr}
    add     r9, sp, #LOW
    ldmia   r9, {r9-r11, lr}            /* words 0 to 2 are M, word 3 is lr */
    mov     r12, #0
    adds    lr, lr, r9
    adcs    r1, r1, r10
    adcs    r2, r2, r11
    adcs    r3, r3, r9
    adcs    r4, r4, r10
    adcs    r5, r5, r11
    adcs    r6, r6, #0
    adcs    r7, r7, #0
    adcs    r8, r8, #0
    adc     r12, r12, #0
    adds    r5, r5, r9
    adcs    r6, r6, r10
    adcs    r7, r7, r11
    adcs    r8, r8, #0
    adc     r12, r12, #0
    subs    r4, r4, r9
    sbcs    r5, r5, r10
    sbcs    r6, r6, r11
    sbcs    r7, r7, #0
    sbcs    r8, r8, #0
    sbc     r12, r12, #0
    ldmia   r0, {r0, r9-r11}            /* words 12 to 15 */
    adds    r0, r0, r12
    adcs    r9, r9, #0
    adcs    r10, r10, #0
    adcs    r11, r11, #0
    mov     r12, #0
    adc     r12, r12, #0
    adds    r3, r3, lr                  /* M = r2, r1, lr: words 3 to 5 */
    adcs    r4, r4, r1
    adcs    r5, r5, r2
    adcs    r6, r6, lr
    adcs    r7, r7, r1
    adcs    r8, r8, r2
    adcs    r0, r0, #0
    adcs    r9, r9, #0
    adcs    r10, r10, #0
    adcs    r11, r11, #0
    adc     r12, r12, #0
    adds    r8, r8, lr
    adcs    r0, r0, r1
    adcs    r9, r9, r2
    adcs    r10, r10, #0
    adcs    r11, r11, #0
    adc     r12, r12, #0
    subs    r7, r7, lr
    sbcs    r8, r8, r1
    sbcs    r0, r0, r2
    sbcs    r9, r9, #0
    sbcs    r10, r10, #0
    sbcs    r11, r11, #0
    sbc     r12, r12, #0
    adds    r6, r6, r3                  /* M = r4, r3: words 6 and 7 */
    adcs    r7, r7, r4
    adcs    r8, r8, #0
    adcs    r0, r0, r3
    adcs    r9, r9, r4
    adcs    r10, r10, #0
    adcs    r11, r11, #0
    adc     r12, r12, #0
    adds    r10, r10, r3
    adcs    r11, r11, r4
    adc     r12, r12, #0
    subs    r9, r9, r3
    sbcs    r10, r10, r4
    sbcs    r11, r11, #0
    sbc     r12, r12, #0
    rsb     r12, r12, #0
    subtract_p r5, r6, r7, r8, r0, r9, r10, r11, r12
    mov     r4, r0
    ldr     r12, [sp, #OUT]
    stmia   r12!, {r5-r8}
    stmia   r12!, {r4}
    stmia   r12, {r9-r11}
.endm

/* void p256_multiply(uint32_t out[8], const uint32_t a[8], const uint32_t b[8]); */
function p256_multiply
    multiply256
    reduce
    leave256

/* void p256_square(uint32_t out[8], const uint32_t a[8]); */
function p256_square
    square256
    reduce
    leave256

/* void p256_add(uint32_t out[8], const uint32_t a[8], const uint32_t b[8]); */
function p256_add
    push    {r4-r11, lr}
    add256
    sbc     r12, r12, r12
    mvn     r12, r12                    /* all ones where it left 256 bits; again where it still does */
    subtract_p r9, r10, r11, lr, r1, r2, r3, r4, r12
    sbc     r5, r5, r5
    bic     r12, r12, r5
    subtract_p r9, r10, r11, lr, r1, r2, r3, r4, r12
    stmia   r0!, {r9-r11, lr}
    stmia   r0, {r1-r4}
    pop     {r4-r11, pc}

/* w7 ... w0 + p where the mask is all ones; the flags hold the carry. */
.macro add_p w0, w1, w2, w3, w4, w5, w6, w7, mask
    adds    \w0, \w0, \mask
    adcs    \w1, \w1, \mask
    adcs    \w2, \w2, \mask
    adcs    \w3, \w3, #0
    adcs    \w4, \w4, #0
    adcs    \w5, \w5, #0
    adcs    \w6, \w6, \mask, lsr #31
    adcs    \w7, \w7, \mask
.endm

/* void p256_subtract(uint32_t out[8], const uint32_t a[8], const uint32_t b[8]); */
function p256_subtract
    push    {r4-r11, lr}
    subtract256
    sbc     r12, r12, r12               /* all ones where it borrowed; again where p was not enough */
    add_p   r9, r10, r11, lr, r1, r2, r3, r4, r12
    sbc     r5, r5, r5
    and     r12, r12, r5
    add_p   r9, r10, r11, lr, r1, r2, r3, r4, r12
    stmia   r0!, {r9-r11, lr}
    stmia   r0, {r1-r4}
    pop     {r4-r11, pc}
