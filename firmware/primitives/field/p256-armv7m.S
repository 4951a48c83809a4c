/* The field of P-256 for ARMv7-M cores whose UMULL takes a varying time. */
#include "field/multiply-armv7m.S"

/* Reduces a product to out, as in p256-armv7m.inc: words 8 to 11, then 12 to 15 with the carry. */
.macro reduce
    add     r0, sp, #HIGH
    stmia   r0, {r9-r11, lr}
    whole_m
    adcs    r5, r5, r11                 /* M >> 64 */
    adcs    r6, r6, lr
    adcs    r7, r7, r1
    adcs    r8, r8, r2
    sbc     r9, r9, r9                  /* the carry out, less 1 */
    rsbs    r0, r0, #0                  /* the carry again, and M >> 160 */
    adcs    r5, r5, r2
    adcs    r6, r6, r3
    adcs    r7, r7, r4
    adcs    r8, r8, #0
    adc     r9, r9, #0
    subs    r5, r5, r10                 /* M >> 32 */
    sbcs    r6, r6, r11
    sbcs    r7, r7, lr
    sbcs    r8, r8, r1
    sbc     r9, r9, #0
    adds    r5, r5, r12
    adcs    r6, r6, r10
    adcs    r7, r7, r11
    adcs    r8, r8, lr
    add     r0, sp, #HIGH
    ldm     r0, {r10-r12, lr}
    adcs    r10, r10, r1
    adcs    r11, r11, r2
    adcs    r12, r12, r3
    adcs    lr, lr, r4
    sbc     r0, r0, r0                  /* the carry out, less 1 */
    adds    r10, r10, r3
    adcs    r11, r11, r4
    adcs    r12, r12, #0
    adcs    lr, lr, #0
    adc     r0, r0, #0
    subs    r10, r10, r2
    sbcs    r11, r11, r3
    sbcs    r12, r12, r4
    sbcs    lr, lr, #0
    sbc     r0, r0, #0
    add     r9, r9, #1                  /* carry out of words 8 to 11: -1 to 3 */
    adds    r10, r10, r9
    adcs    r11, r11, r9, asr #31
    adcs    r12, r12, r9, asr #31
    adcs    lr, lr, r9, asr #31
    adc     r0, r0, r9, asr #31
    mvn     r9, r0
    subtract_p r5, r6, r7, r8, r10, r11, r12, lr, r9
    ldr     r0, [sp, #OUT]
    stmia   r0, {r5-r8, r10-r12, lr}
.endm

#include "field/p256-armv7m.inc"

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
