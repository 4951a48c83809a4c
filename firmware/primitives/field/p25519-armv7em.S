/* The field of 2^255 - 19 elements for ARMv7E-M. */
#include "field/multiply-armv7em.S"
#include "field/p25519-armv7m.inc"

/* What is above 2^255 of r4, the highest word, and r12 above it, times 19 to r12: 2^255 = 19. */
.macro fold_top
    lsl     r12, r12, #1
    orr     r12, r12, r4, lsr #31
    bic     r4, r4, #0x80000000
    mov     lr, #19
    mul     r12, r12, lr
.endm

/* The product as multiply256 leaves it, modulo 2^255 - 19, to out: 2^256 = 38. The highest word comes
   first, so that what it has above 2^255 joins the one chain; what is put is below 2^255 + 2^230. */
.macro reduce
    mov     r0, #38
    mov     r12, #0
    umaal   r4, r12, lr, r0
    fold_top
    ldr     lr, [sp, #LOW]
    umaal   lr, r12, r5, r0
    ldr     r5, [sp, #LOW + 4]
    umaal   r5, r12, r6, r0
    ldr     r6, [sp, #LOW + 8]
    umaal   r6, r12, r7, r0
    ldr     r7, [sp, #LOW + 12]
    umaal   r7, r12, r8, r0
    umaal   r1, r12, r9, r0
    umaal   r2, r12, r10, r0
    umaal   r3, r12, r11, r0
    ldr     r0, [sp, #OUT]
    add     r4, r4, r12
    str     lr, [r0], #4
    stmia   r0!, {r5-r7}
    stmia   r0, {r1-r4}
.endm

/* void p25519_multiply(uint32_t out[8], const uint32_t a[8], const uint32_t b[8]); */
function p25519_multiply
    multiply256
    reduce
    leave256

/* void p25519_square(uint32_t out[8], const uint32_t a[8]); */
function p25519_square
    square256
    reduce
    leave256

/* void p25519_multiply_a24(uint32_t out[8], const uint32_t a[8]);  121665 a */
function p25519_multiply_a24
    push    {r4-r11, lr}
    movw    r11, #121665 & 0xffff
    movt    r11, #121665 >> 16
    ldr     r4, [r1, #28]
    ldmia   r1, {r1-r3, r5-r8}
    umull   r4, r12, r4, r11
    fold_top
    mov     r9, #0
    umaal   r9, r12, r1, r11
    mov     r1, #0
    umaal   r1, r12, r2, r11
    mov     r2, #0
    umaal   r2, r12, r3, r11
    mov     r3, #0
    umaal   r3, r12, r5, r11
    mov     r5, #0
    umaal   r5, r12, r6, r11
    mov     r6, #0
    umaal   r6, r12, r7, r11
    mov     r7, #0
    umaal   r7, r12, r8, r11
    add     r4, r4, r12
    str     r9, [r0], #4
    stmia   r0!, {r1-r3, r5-r7}
    str     r4, [r0]
    pop     {r4-r11, pc}
