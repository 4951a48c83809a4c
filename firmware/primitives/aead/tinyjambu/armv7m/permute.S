/* TinyJAMBU's keyed permutation, 32 steps at a time, and its encryption of whole words. */
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

/* s0 ^= s47 ^ ~(s70 & s85) ^ s91 ^ key, where the key is already inverted. */
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

.macro steps_128
    feedback S0, S1, S2, S3, K0
    feedback S1, S2, S3, S0, K1
    feedback S2, S3, S0, S1, K2
    feedback S3, S0, S1, S2, K3
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
    steps_128
    subs.w  STEPS, STEPS, #128
    bne.w   .Lsteps
    stmia   r1, {r6-r9}
    pop     {r4-r11}
    bx      lr
    .size   tinyjambu_permute, . - tinyjambu_permute

#define OUT r1
#define IN r12
#define END lr
#define MASK 4 /* in the frame; all ones for decryption */
#define FRAME_BYTES 8
#define WORDS 44 /* arguments: after the frame and the pushed registers */
#define DECRYPTING 48

    .section .text.tinyjambu_crypt, "ax", %progbits
    .global tinyjambu_crypt
    .type   tinyjambu_crypt, %function
    .thumb_func
    .p2align 2
/* void tinyjambu_crypt(const tinyjambu_ctx *ctx, uint32_t s[4], uint8_t *out, const uint8_t *in,
                        size_t words, int decrypting) */
tinyjambu_crypt:
    push    {r4-r11, lr}
    sub     sp, #FRAME_BYTES
    ldr     r4, [sp, #WORDS]
    ldr     r5, [sp, #DECRYPTING]
    mov     IN, r3
    add     END, r3, r4, lsl #2
    rsbs    r5, r5, #0
    str     r1, [sp]
    str     r5, [sp, #MASK]
    ldmia   r1, {r6-r9}
    mov     OUT, r2
    ldmia   r0, {r2-r5}
    .p2align 3
.Lword:
    eor     S1, S1, #0x50 /* FRAME_MESSAGE */
    mov     STEPS, #1024
    .p2align 3
.Lmore_steps:
    steps_128
    steps_128
    subs.w  STEPS, STEPS, #256
    bne.w   .Lmore_steps
    ldr     U, [sp, #MASK]
    ldr     T, [IN], #4
    and     U, U, S2
    eor     S3, S3, T
    eor     S3, S3, U
    eor     T, T, S2
    str     T, [OUT], #4
    cmp     IN, END
    bne.w   .Lword
    ldr     r0, [sp]
    stmia   r0, {r6-r9}
    add     sp, #FRAME_BYTES
    pop     {r4-r11, pc}
    .size   tinyjambu_crypt, . - tinyjambu_crypt
