/* (h + m) r modulo 2^130 - 5 in ten limbs of 13 bits, with multiplications that take the same time
   for all operands, unlike UMULL on a Cortex-M3.

   Bounds: limbs of h are below 2^13 + 2^6, so those of x = h + m are below 2^13 after carrying, and
   the last one, which does not carry, is below 3 * 2^12. With each limb of r at the maximum that
   clamping allows, ten products and the incoming carry are below 0.61 * 2^32. */
    .syntax unified
    .thumb

#define BITS 13

/* The frame: x, then the pushed registers. */
#define X 0
#define FRAME_BYTES 40
#define H 40

#define LIMB lr /* of the message */

/* Limb i of the message from bit `bit` of a word on: within one word, or across two. */
.macro whole word, bit
    ubfx    LIMB, \word, #\bit, #BITS
.endm

.macro parts word, bit, next
    lsr     LIMB, \word, #\bit
    orr     LIMB, LIMB, \next, lsl #32 - \bit
    ubfx    LIMB, LIMB, #0, #BITS
.endm

/* Adds it to h, with the carry of the previous limb. */
.macro add_limb h, before
    add     \h, \h, LIMB
    add     \h, \h, \before, lsr #BITS
    ubfx    \before, \before, #0, #BITS
.endm

.macro carry from, to
    add     \to, \to, \from, lsr #BITS
    ubfx    \from, \from, #0, #BITS
.endm

/* Adds the products with x[j] to outputs `first` to `first` + 4, which use r[first - j] and on;
   then replaces the one no longer needed by the one that the next x needs. */
.macro step first, j, w0, w1, w2, w3, w4
    ldr.w   r0, [sp, #X + 4 * \j]
    .if     \j
    ldr.w   \w0, [r1, #4 * (9 + \first - \j)]
    .endif
    .if     \j == 0 && \first == 0
    mul     r4, r0, \w0
    .else
    mla     r4, r0, \w0, r4
    .endif
    .if     \j == 0
    mul     r5, r0, \w1
    mul     r6, r0, \w2
    mul     r7, r0, \w3
    mul     r8, r0, \w4
    .else
    mla     r5, r0, \w1, r5
    mla     r6, r0, \w2, r6
    mla     r7, r0, \w3, r7
    mla     r8, r0, \w4, r8
    .endif
.endm

.macro five_limbs first
    ldr     r9, [r1, #4 * (9 + \first)]
    ldr     r10, [r1, #4 * (9 + \first + 1)]
    ldr     r11, [r1, #4 * (9 + \first + 2)]
    ldr     r12, [r1, #4 * (9 + \first + 3)]
    ldr     lr, [r1, #4 * (9 + \first + 4)]
    step    \first, 0, r9, r10, r11, r12, lr
    step    \first, 1, lr, r9, r10, r11, r12
    step    \first, 2, r12, lr, r9, r10, r11
    step    \first, 3, r11, r12, lr, r9, r10
    step    \first, 4, r10, r11, r12, lr, r9
    step    \first, 5, r9, r10, r11, r12, lr
    step    \first, 6, lr, r9, r10, r11, r12
    step    \first, 7, r12, lr, r9, r10, r11
    step    \first, 8, r11, r12, lr, r9, r10
    step    \first, 9, r10, r11, r12, lr, r9
    carry   r4, r5
    carry   r5, r6
    carry   r6, r7
    carry   r7, r8
    ldr     r0, [sp, #H]
    lsr     r9, r8, #BITS
    ubfx    r8, r8, #0, #BITS
.endm

    .section .text.poly1305_multiply, "ax", %progbits
    .global poly1305_multiply
    .type   poly1305_multiply, %function
    .thumb_func
    .p2align 2
/* void poly1305_multiply(uint32_t h[10], const uint32_t r[19], const uint8_t *block, uint32_t top)

   r is 5 r[1] to 5 r[9], then r[0] to r[9]; top is added to the last limb. */
poly1305_multiply:
    push    {r0, r4-r11, lr}
    sub     sp, #FRAME_BYTES

    ldr     r4, [r2] /* may be unaligned */
    ldr     r5, [r2, #4]
    ldr     r6, [r2, #8]
    ldr     r7, [r2, #12]
    ldmia   r0!, {r8-r12}
    whole   r4, 0
    add     r8, r8, LIMB
    whole   r4, 13
    add_limb r9, r8
    parts   r4, 26, r5
    add_limb r10, r9
    whole   r5, 7
    add_limb r11, r10
    parts   r5, 20, r6
    add_limb r12, r11
    str     r8, [sp, #X]
    str     r9, [sp, #X + 4]
    str     r10, [sp, #X + 8]
    str     r11, [sp, #X + 12]
    ldmia   r0, {r4, r8-r11}
    whole   r6, 1
    add_limb r4, r12
    whole   r6, 14
    add_limb r8, r4
    parts   r6, 27, r7
    add_limb r9, r8
    whole   r7, 8
    add_limb r10, r9
    add     LIMB, r3, r7, lsr #21
    add_limb r11, r10
    str     r12, [sp, #X + 16]
    str     r4, [sp, #X + 20]
    str     r8, [sp, #X + 24]
    str     r9, [sp, #X + 28]
    str     r10, [sp, #X + 32]
    str     r11, [sp, #X + 36]

    five_limbs 0
    stmia   r0, {r4-r8}
    mov     r4, r9
    five_limbs 5
    /* The carry out of the top is added at the bottom five times. */
    add     r9, r9, r9, lsl #2
    ldrd    r10, r11, [r0]
    add     r10, r10, r9
    carry   r10, r11
    strd    r10, r11, [r0]
    add     r0, #20
    stmia   r0, {r4-r8}

    movs    r0, #0
    .irp    limb, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
    str     r0, [sp, #X + 4 * \limb]
    .endr
    add     sp, #FRAME_BYTES + 4
    pop     {r4-r11, pc}
    .size   poly1305_multiply, . - poly1305_multiply
