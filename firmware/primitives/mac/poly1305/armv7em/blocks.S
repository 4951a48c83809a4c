/* h = (h + m) r modulo 2^130 - 5 for ARMv7E-M cores, whose UMLAL takes one cycle (Cortex-M4 TRM,
   DDI 0439B, table 3-1).

   h is h0 to h3 of 32 bits, and h4. Clamping leaves r0 to r3 below 2^28, and r1 to r3 divisible by
   4: with t_j = 5 r_j / 4, the part of h_i r_j from 2^128 up is h_i t_j at 2^(32 (i + j - 4)).
   Bounds: h4 is at most 6 with a block, so no column reaches 2^63, and the part from 2^128 up is
   below 4 2^28 + 7 2^28: five times its part above 2^130 is below 2^32, and afterwards h4 is at
   most 4. */
    .syntax unified
    .thumb

#define H0 r4
#define H1 r5
#define H2 r6
#define H3 r7
#define H4 r8

/* The frame: t3, r0, r1, t2, t1, r2, r3; the data's address and end; then the pushed registers. */
#define R2 20
#define R3 24
#define DATA 28
#define END 32
#define FRAME_BYTES 36
#define H 36
#define TOP 76

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
    str     r3, [sp, #END]
    ldmia   r1, {r4-r7}
    add     r8, r5, r5, lsr #2
    add     r9, r6, r6, lsr #2
    add     r10, r7, r7, lsr #2
    strd    r10, r4, [sp]
    strd    r5, r9, [sp, #8]
    strd    r8, r6, [sp, #16]
    str     r7, [sp, #R3]
    ldmia   r0, {H0, H1, H2, H3, H4}
    .p2align 2
1:
    ldr     r9, [r2]                    /* may be unaligned */
    ldr     r10, [r2, #4]
    ldr     r11, [r2, #8]
    ldr     r12, [r2, #12]
    ldr     r0, [sp, #TOP]
    add     r2, r2, #16
    str     r2, [sp, #DATA]
    adds    H0, H0, r9
    adcs    H1, H1, r10
    adcs    H2, H2, r11
    adcs    H3, H3, r12
    adc     H4, H4, r0
    /* Columns from the lowest up, each with the carry of the previous one. */
    ldmia   sp, {r0, r1, r3, r12, lr}   /* t3, r0, r1, t2, t1 */
    umull   r9, r10, H0, r1
    umlal   r9, r10, H1, r0
    umlal   r9, r10, H2, r12
    umlal   r9, r10, H3, lr
    mov     r11, #0
    umlal   r10, r11, H0, r3
    umlal   r10, r11, H1, r1
    umlal   r10, r11, H2, r0
    umlal   r10, r11, H3, r12
    umlal   r10, r11, H4, lr
    mov     lr, #0
    umlal   r11, lr, H4, r12
    ldr     r12, [sp, #R2]
    umlal   r11, lr, H1, r3
    umlal   r11, lr, H2, r1
    umlal   r11, lr, H3, r0
    umlal   r11, lr, H0, r12
    mov     r2, #0
    umlal   lr, r2, H4, r0
    ldr     r0, [sp, #R3]
    umlal   lr, r2, H1, r12
    umlal   lr, r2, H2, r3
    umlal   lr, r2, H3, r1
    umlal   lr, r2, H0, r0
    mla     r2, H4, r1, r2
    /* The part above 2^130 is added at the bottom five times. */
    and     H4, r2, #3
    bic     r0, r2, #3
    add     r0, r0, r2, lsr #2
    adds    H0, r9, r0
    adcs    H1, r10, #0
    adcs    H2, r11, #0
    adcs    H3, lr, #0
    adc     H4, H4, #0
    ldr     r2, [sp, #DATA]
    ldr     r0, [sp, #END]
    cmp     r2, r0
    bne     1b

    ldr     r0, [sp, #H]
    stmia   r0, {H0, H1, H2, H3, H4}
    mov     r0, #0
    .irp    offset, 0, 4, 8, 12, 16, R2, R3
    str     r0, [sp, #\offset]
    .endr
    add     sp, #FRAME_BYTES + 4
    pop     {r4-r11, pc}
    .size   poly1305_blocks, . - poly1305_blocks
