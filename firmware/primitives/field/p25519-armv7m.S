/* The field of 2^255 - 19 elements for ARMv7-M cores whose UMULL takes a varying time. */
#include "field/multiply-armv7m.S"
#include "field/p25519-armv7m.inc"

/* Adds h 2^n, its low words in one chain of carries and its high words in another; r12 and r0
   collect the rest. */
.macro times_upper n
    adds    r1, r1, r9, lsl #\n
    adcs    r2, r2, r10, lsl #\n
    adcs    r3, r3, r11, lsl #\n
    adcs    r4, r4, lr, lsl #\n
    adc     r12, r12, lr, lsr #32 - \n
    adds    r1, r1, r8, lsr #32 - \n
    adcs    r2, r2, r9, lsr #32 - \n
    adcs    r3, r3, r10, lsr #32 - \n
    adcs    r4, r4, r11, lsr #32 - \n
    adc     r12, r12, #0
.endm

.macro times_lower n
    adds    r9, r9, r5, lsl #\n
    adcs    r10, r10, r6, lsl #\n
    adcs    r11, r11, r7, lsl #\n
    adcs    lr, lr, r8, lsl #\n
    adc     r0, r0, #0
    adds    r10, r10, r5, lsr #32 - \n
    adcs    r11, r11, r6, lsr #32 - \n
    adcs    lr, lr, r7, lsr #32 - \n
    adc     r0, r0, #0
.endm

/* Reduces the product as combine leaves it modulo 2^256 - 38, to out: 38 = 32 + 4 + 2. */
.macro reduce
    mov     r12, #0
    times_upper 1
    times_upper 2
    times_upper 5
    add     r9, sp, #LOW
    ldmia   r9, {r9-r11, lr}
    mov     r0, #0
    times_lower 1
    times_lower 2
    times_lower 5
    adds    r1, r1, r0
    adcs    r2, r2, #0
    adcs    r3, r3, #0
    adcs    r4, r4, #0
    adc     r12, r12, #0
    ldr     r0, [sp, #OUT]
    fold_and_put
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

/* void p25519_multiply_a24(uint32_t out[8], const uint32_t a[8])

   out = 121665 a; 121665 = 2^16 + 56129. */
function p25519_multiply_a24
    push    {r0, r4-r11, lr}
    ldmia   r1, {r1-r8}
    movw    r9, #56129
    mov     r12, #0
    .irp    w, r1, r2, r3, r4, r5, r6, r7, r8
    /* w's halves times 56129, the carry from below, and w 2^16 */
    uxth    r10, \w
    lsr     r11, \w, #16
    mul     r10, r10, r9
    mul     r11, r11, r9
    lsl     lr, \w, #16
    lsr     r0, \w, #16
    adds    \w, r10, r12
    adc     r12, r0, #0
    adds    \w, \w, lr
    adc     r12, r12, r11, lsr #16
    adds    \w, \w, r11, lsl #16
    adc     r12, r12, #0
    .endr
    mov     r9, r1
    mov     r10, r2
    mov     r11, r3
    mov     lr, r4
    mov     r1, r5
    mov     r2, r6
    mov     r3, r7
    mov     r4, r8
    pop     {r0}
    fold_and_put
    pop     {r4-r11, pc}
