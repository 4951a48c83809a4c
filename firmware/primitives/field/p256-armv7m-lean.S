/* The field of P-256 for ARMv7-M cores whose UMULL takes a varying time, in little flash: as in
   p256-armv7m.S, with one copy of the 128-bit product. */
#include "field/multiply-armv7m.S"
#include "field/p256-armv7m.inc"
#include "field/p256-reduce-armv7m.inc"

/* void p256_multiply_lean(uint32_t out[8], const uint32_t a[8], const uint32_t b[8])

   The frame grows downwards by one product at a time, to what multiply256 has. */
function p256_multiply_lean
    push    {r0-r2, r4-r11, lr}
    sub     sp, #FRAME_BYTES - DIFFERENCE_A
    mov     r12, r1
    difference
    strd    r3, r4, [sp]
    strd    r5, r6, [sp, #8]
    mov     r0, r12
    mov     r12, r2
    difference
    strd    r3, r4, [sp, #DIFFERENCE_B - DIFFERENCE_A]
    strd    r5, r6, [sp, #DIFFERENCE_B - DIFFERENCE_A + 8]
    eor     r12, r12, r0
    mvn     r12, r12                    /* equal signs: MIDDLE is subtracted */
    str     r12, [sp, #SIGN - DIFFERENCE_A]
    mov     r1, sp
    add     r2, sp, #DIFFERENCE_B - DIFFERENCE_A
    bl      product128_below
    ldr     r1, [sp, #A - MIDDLE]
    ldr     r2, [sp, #B - MIDDLE]
    add     r1, r1, #16
    add     r2, r2, #16
    bl      product128_below
    ldr     r1, [sp, #A - HIGH]
    ldr     r2, [sp, #B - HIGH]
    bl      product128_below
    ldr     lr, [sp, #SIGN]
    combine
    reduce
    leave256

/* The product of 128 bits at r1 and r2, to 32 bytes by which the stack grows. */
    .thumb_func
product128_below:
    sub     sp, #32
    push    {r2, lr}
    mov     lr, r1
    product128 8, lr, 0, 0, 0
    pop     {r2, pc}
    .size   p256_multiply_lean, . - p256_multiply_lean
