/* TinyJAMBU's keyed permutation, 32 steps at once. */
    .syntax unified
    .thumb

#define STEPS r0
#define K0 r2
#define K1 r3
#define K2 r4
#define K3 r5
#define S0 r6
#define S1 r7
#define S2 r8
#define S3 r9
#define T r10
#define U r11

/* s0 ^= s47 ^ ~(s70 & s85) ^ s91 ^ key, the key being inverted already. */
.macro feedback s0, s1, s2, s3, key
    lsr.w   T, \s2, #6
    orr.w   T, T, \s3, lsl #26
    lsr.w   U, \s2, #21
    orr.w   U, U, \s3, lsl #11
    and.w   T, T, U
    eor.w   \s0, \s0, \s1, lsr #15
    eor.w   \s0, \s0, \s2, lsl #17
    eor.w   \s0, \s0, \s2, lsr #27
    eor.w   \s0, \s0, \s3, lsl #5
    eor.w   \s0, \s0, \key
    eor.w   \s0, \s0, T
.endm

    .section .text.tinyjambu_permute, "ax", %progbits
    .global tinyjambu_permute
    .type   tinyjambu_permute, %function
    .thumb_func
    .p2align 2
/* void tinyjambu_permute(const tinyjambu_ctx *ctx, uint32_t s[4], unsigned frame, unsigned steps) */
tinyjambu_permute:
    push    {r4-r11}
    mov     r12, r2
    mov     T, r3
    ldmia   r1, {r6-r9}
    ldmia   r0, {r2-r5}
    eor     S1, S1, r12
    mov     STEPS, T
    .p2align 2
.Lsteps:
    feedback S0, S1, S2, S3, K0
    feedback S1, S2, S3, S0, K1
    feedback S2, S3, S0, S1, K2
    feedback S3, S0, S1, S2, K3
    subs.w  STEPS, STEPS, #128
    bne.w   .Lsteps
    stmia   r1, {r6-r9}
    pop     {r4-r11}
    bx      lr
    .size   tinyjambu_permute, . - tinyjambu_permute
