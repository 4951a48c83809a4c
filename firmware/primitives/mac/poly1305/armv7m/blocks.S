/* h = (h + m) r modulo 2^130 - 5 for ARMv7-M, with multiplications that take the same time for all
   operands, unlike UMULL on a Cortex-M3: MUL and MLA, of which 32 bits are kept.

   h is h0 to h3 of 32 bits, and h4. Clamping leaves r0 to r3 below 2^28, and r1 to r3 divisible by
   4: with t_j = 5 r_j / 4, the part of h_i r_j from 2^128 up is h_i t_j at 2^(32 (i + j - 4)).

   Operands are halves of these words: products of two halves are below 2^32, and lie at multiples
   of 2^16. Those at odd multiples are summed first, then, shifted by 16 bits, those at even ones.
   MUL leaves the carry as it is, so that products of one half of h and all of r, each in a column of
   its own, are one long addition: a cycle more for each, as MLA takes.

   Bounds: h4 is at most 6 with a block. Upper halves of r are below 2^12 and those of t below
   5 2^10, so four of their products sum up to less than 2^32, and with the upper half of h3 and h4
   as one factor, a product is below 7 2^16 5 2^10 < 2^32. The part from 2^128 up is below 4 2^28 +
   7 2^28: five times its part above 2^130 is below 2^32, and afterwards h4 is at most 4. */
    .syntax unified
    .thumb

/* Halves of r and t. */
#define R0 r0
#define R1 r1
#define R2 r2
#define R3 r3
#define T1 r4
#define T2 r5
#define T3 r6
#define HALVES R0, R1, R2, R3, T1, T2, T3
#define PRODUCT r7
#define HALF r8 /* of h */
/* Columns, 32 bits apart. */
#define C0 r9
#define C1 r10
#define C2 r11
#define C3 r12
#define C4 lr

/* The frame: lower halves of r and t, their upper halves, h, the data's address and end; then the
   pushed registers. */
#define LOWER 0
#define UPPER 28
#define WORDS 56
#define DATA 76
#define END 80
#define FRAME_BYTES 84
#define H 84
#define TOP 124

/* Adds products of HALF to columns; then loads the next half, if any. */
.macro add_products c0, f0, c1, f1, c2, f2, c3, f3, next=
    mul     PRODUCT, HALF, \f0
    adds    \c0, \c0, PRODUCT
    mul     PRODUCT, HALF, \f1
    adcs    \c1, \c1, PRODUCT
    mul     PRODUCT, HALF, \f2
    adcs    \c2, \c2, PRODUCT
    mul     PRODUCT, HALF, \f3
    .ifnb   \next
    ldrh    HALF, [sp, #WORDS + \next]
    .endif
    adcs    \c3, \c3, PRODUCT
.endm

/* The same for each half of h at `first` and every second one from there, and lower halves of r. */
.macro add_lower first
    ldrh    HALF, [sp, #WORDS + \first]
    add_products C0, R0, C1, R1, C2, R2, C3, R3, \first + 4
    adc     C4, C4, #0
    add_products C0, T3, C1, R0, C2, R1, C3, R2, \first + 8
    adc     C4, C4, #0
    add_products C0, T2, C1, T3, C2, R0, C3, R1, \first + 12
    adc     C4, C4, #0
    add_products C0, T1, C1, T2, C2, T3, C3, R0
    adc     C4, C4, #0
.endm

    .section .text.poly1305_blocks, "ax", %progbits
    .global poly1305_blocks
    .type   poly1305_blocks, %function
    .thumb_func
    .p2align 2
/* void poly1305_blocks(uint32_t h[5], const uint32_t r[4], const uint8_t *data, size_t blocks,
                        uint32_t top)

   For at least one block. */
poly1305_blocks:
    push    {r0, r4-r11, lr}
    sub     sp, #FRAME_BYTES
    add     r3, r2, r3, lsl #4
    strd    r2, r3, [sp, #DATA]
    ldmia   r0, {C0, C1, C2, C3, C4}
    ldmia   r1, {r0-r3}
    add     T1, r1, r1, lsr #2
    add     T2, r2, r2, lsr #2
    add     T3, r3, r3, lsr #2
    add     r7, sp, #UPPER
    .irp    word, R0, R1, R2, R3, T1, T2, T3
    lsr     r8, \word, #16
    str     r8, [r7], #4
    uxth    \word, \word
    .endr
    stmia   sp, {HALVES}
    ldr     r0, [sp, #DATA]
    .p2align 2
1:
    ldr     r1, [r0] /* may be unaligned */
    ldr     r2, [r0, #4]
    ldr     r3, [r0, #8]
    ldr     r4, [r0, #12]
    ldr     r5, [sp, #TOP]
    add     r0, r0, #16
    str     r0, [sp, #DATA]
    adds    C0, C0, r1
    adcs    C1, C1, r2
    adcs    C2, C2, r3
    adcs    C3, C3, r4
    adc     C4, C4, r5
    add.w   r7, sp, #UPPER /* wide, so that what follows is at multiples of 4 */
    add     r8, sp, #WORDS
    stmia   r8, {C0, C1, C2, C3, C4}
    ldmia   r7, {HALVES}

    /* Odd multiples of 2^16: lower halves of h by upper ones of r. */
    uxth    r7, C0
    uxth    r8, C1
    uxth    lr, C2
    mul     C0, r7, R0
    mul     C1, r7, R1
    mul     C2, r7, R2
    mul     C3, r7, R3
    mla     C0, r8, T3, C0
    mla     C1, r8, R0, C1
    mla     C2, r8, R1, C2
    mla     C3, r8, R2, C3
    ldrh    r8, [sp, #WORDS + 12]
    mla     C0, lr, T2, C0
    mla     C1, lr, T3, C1
    mla     C2, lr, R0, C2
    mla     C3, lr, R1, C3
    mla     C0, r8, T1, C0
    mla     C1, r8, T2, C1
    mla     C2, r8, T3, C2
    mla     C3, r8, R0, C3
    /* Upper halves of h by lower ones of r. */
    ldmia   sp, {HALVES}
    mov     C4, #0
    add_lower 2

    lsl     C4, C4, #16
    orr     C4, C4, C3, lsr #16
    lsl     C3, C3, #16
    orr     C3, C3, C2, lsr #16
    lsl     C2, C2, #16
    orr     C2, C2, C1, lsr #16
    lsl     C1, C1, #16
    orr     C1, C1, C0, lsr #16
    lsl     C0, C0, #16

    /* Even multiples: lower halves of both, and h4. */
    add_lower 0
    ldr     HALF, [sp, #WORDS + 16]
    add_products C1, T1, C2, T2, C3, T3, C4, R0
    /* Upper halves of both; the last one of h is that of h3, and h4. */
    add.w   r7, sp, #UPPER
    ldmia   r7, {HALVES}
    ldrh    HALF, [sp, #WORDS + 2]
    add_products C1, R0, C2, R1, C3, R2, C4, R3
    ldrh    HALF, [sp, #WORDS + 6]
    add_products C1, T3, C2, R0, C3, R1, C4, R2
    ldrh    HALF, [sp, #WORDS + 10]
    add_products C1, T2, C2, T3, C3, R0, C4, R1
    ldr     HALF, [sp, #WORDS + 14]
    add_products C1, T1, C2, T2, C3, T3, C4, R0

    /* The part above 2^130 is added at the bottom five times. */
    bic     r2, C4, #3
    add     r2, r2, C4, lsr #2
    and     C4, C4, #3
    ldrd    r0, r1, [sp, #DATA]
    adds    C0, C0, r2
    adcs    C1, C1, #0
    adcs    C2, C2, #0
    adcs    C3, C3, #0
    adc     C4, C4, #0
    cmp     r0, r1
    bne.w   1b

    ldr     r0, [sp, #H]
    stmia   r0, {C0, C1, C2, C3, C4}
    .irp    register, r0, r1, r2, r3, r4, r5, r6
    movs    \register, #0
    .endr
    add     sp, #FRAME_BYTES
    .rept   FRAME_BYTES / 28
    push    {r0-r6}
    .endr
    add     sp, #FRAME_BYTES + 4
    pop     {r4-r11, pc}
    .size   poly1305_blocks, . - poly1305_blocks
