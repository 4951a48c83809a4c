/* SHA-256's compression. The working variables a .. h stay in registers and are renamed from round
   to round. The schedule is a ring of 16 words: sixteen rounds, then sixteen words computed in
   place. */
    .syntax unified
    .thumb

/* The frame. */
#define RING 0
#define SAVED 64 /* a .. h while registers are needed for the schedule */
#define FRAME_BYTES 96
#define STATE 96
#define DATA 100
#define BLOCKS 104

/* One round (FIPS 180-4, 6.2.2, step 3), after K and W have been added to h. In: x = b ^ c. Out:
   the new a in h, and y = its b ^ c, so the next call swaps x and y. */
.macro round a, b, c, d, e, f, g, h, x, y
    /* Ch(e, f, g) = ((f ^ g) and e) ^ g */
    eor     r0, \f, \g
    and     r0, r0, \e
    eor     r0, r0, \g
    add     \h, \h, r0
    /* Sigma1(e): right by 6, 11, 25 */
    eor     r0, \e, \e, ror #5
    eor     r0, r0, \e, ror #19
    add     \h, \h, r0, ror #6
    add     \d, \d, \h
    /* Maj(a, b, c) = ((a ^ b) and (b ^ c)) ^ b */
    eor     \y, \a, \b
    and     \x, \x, \y
    eor     \x, \x, \b
    add     \h, \h, \x
    /* Sigma0(a): right by 2, 13, 22 */
    eor     \x, \a, \a, ror #11
    eor     \x, \x, \a, ror #20
    add     \h, \h, \x, ror #2
.endm

/* Two rounds, starting at the schedule's word i: consecutive loads overlap. */
.macro rounds i, a, b, c, d, e, f, g, h
    ldr     r0, [sp, #RING + 4 * (\i)]
    ldr     r3, [sp, #RING + 4 * (\i) + 4]
    ldmia   r12!, {r1, lr}
    add     \h, \h, r0
    add     \h, \h, r1
    add     lr, lr, r3
    round   \a, \b, \c, \d, \e, \f, \g, \h, r2, r3
    add     \g, \g, lr
    round   \h, \a, \b, \c, \d, \e, \f, \g, r3, r2
.endm

/* w = W(t - 16) becomes W(t) = sigma1(W(t - 2)) + W(t - 7) + sigma0(W(t - 15)) + W(t - 16). */
.macro extend i, w, t15, t7, t2
    add     \w, \w, \t7
    ror     lr, \t15, #7
    eor     lr, lr, \t15, ror #18
    eor     lr, lr, \t15, lsr #3
    add     \w, \w, lr
    ror     lr, \t2, #17
    eor     lr, lr, \t2, ror #19
    eor     lr, lr, \t2, lsr #10
    add     \w, \w, lr
    str     \w, [sp, #RING + 4 * (\i)]
.endm

.macro fetch register, i
    ldr     \register, [sp, #RING + 4 * (\i)]
.endm

    .section .text.sha256_compress, "ax", %progbits
    .global sha256_compress
    .type   sha256_compress, %function
    .thumb_func
    .p2align 2
/* void sha256_compress(uint32_t state[8], const uint8_t *data, size_t blocks) */
sha256_compress:
    cmp     r2, #0
    bne     .Lbegin
    bx      lr
.Lbegin:
    push    {r0-r2, r4-r11, lr}
    sub     sp, #FRAME_BYTES

.Lblock:
    ldr     r1, [sp, #DATA]
    mov     r0, sp
    .rept   2
    ldr     r2, [r1] /* may be unaligned, which ldm does not support */
    ldr     r3, [r1, #4]
    ldr     r4, [r1, #8]
    ldr     r5, [r1, #12]
    ldr     r6, [r1, #16]
    ldr     r7, [r1, #20]
    ldr     r8, [r1, #24]
    ldr     r9, [r1, #28]
    .irp    register, r2, r3, r4, r5, r6, r7, r8, r9
    rev     \register, \register
    .endr
    stmia   r0!, {r2-r9}
    adds    r1, #32
    .endr
    str     r1, [sp, #DATA]
    ldr     r0, [sp, #STATE]
    ldmia   r0, {r4-r11}
    movw    r12, #:lower16:.Lconstants
    movt    r12, #:upper16:.Lconstants

.Lsixteen_rounds:
    eor     r2, r5, r6
    rounds  0, r4, r5, r6, r7, r8, r9, r10, r11
    rounds  2, r10, r11, r4, r5, r6, r7, r8, r9
    rounds  4, r8, r9, r10, r11, r4, r5, r6, r7
    rounds  6, r6, r7, r8, r9, r10, r11, r4, r5
    rounds  8, r4, r5, r6, r7, r8, r9, r10, r11
    rounds  10, r10, r11, r4, r5, r6, r7, r8, r9
    rounds  12, r8, r9, r10, r11, r4, r5, r6, r7
    rounds  14, r6, r7, r8, r9, r10, r11, r4, r5
    movw    r0, #:lower16:.Lconstants_end
    movt    r0, #:upper16:.Lconstants_end
    cmp     r12, r0
    beq     .Lfeed_forward

    add     r0, sp, #SAVED
    stmia   r0, {r4-r11}
    fetch   r0, 0
    fetch   r1, 1
    fetch   r9, 9
    fetch   r10, 14
    fetch   r2, 2
    fetch   r8, 10
    fetch   r11, 15
    extend  0, r0, r1, r9, r10
    extend  1, r1, r2, r8, r11
    fetch   r3, 3
    fetch   r4, 4
    fetch   r5, 5
    fetch   r8, 11
    fetch   r9, 12
    fetch   r6, 13
    extend  2, r2, r3, r8, r0
    extend  3, r3, r4, r9, r1
    extend  4, r4, r5, r6, r2
    fetch   r6, 6
    fetch   r7, 7
    fetch   r8, 8
    fetch   r9, 9
    extend  5, r5, r6, r10, r3
    extend  6, r6, r7, r11, r4
    extend  7, r7, r8, r0, r5
    extend  8, r8, r9, r1, r6
    fetch   r10, 10
    fetch   r11, 11
    fetch   r1, 12
    extend  9, r9, r10, r2, r7
    extend  10, r10, r11, r3, r8
    extend  11, r11, r1, r4, r9
    fetch   r2, 13
    fetch   r3, 14
    fetch   r4, 15
    extend  12, r1, r2, r5, r10
    extend  13, r2, r3, r6, r11
    extend  14, r3, r4, r7, r1
    extend  15, r4, r0, r8, r2
    add     r0, sp, #SAVED
    ldmia   r0, {r4-r11}
    b       .Lsixteen_rounds

.Lfeed_forward:
    ldr     r0, [sp, #STATE]
    ldmia   r0, {r1-r3, r12}
    add     r4, r4, r1
    add     r5, r5, r2
    add     r6, r6, r3
    add     r7, r7, r12
    stmia   r0!, {r4-r7}
    ldmia   r0, {r1-r3, r12}
    add     r8, r8, r1
    add     r9, r9, r2
    add     r10, r10, r3
    add     r11, r11, r12
    stmia   r0, {r8-r11}
    ldr     r0, [sp, #BLOCKS]
    subs    r0, #1
    str     r0, [sp, #BLOCKS]
    bne     .Lblock

    .irp    register, r0, r1, r2, r3, r4, r5, r6, r7
    movs    \register, #0
    .endr
    add     sp, #FRAME_BYTES
    .rept   FRAME_BYTES / 32
    push    {r0-r7}
    .endr
    add     sp, #FRAME_BYTES + 12
    pop     {r4-r11, pc}
    .size   sha256_compress, . - sha256_compress

    .section .rodata.sha256_compress, "a", %progbits
    .p2align 2
.Lconstants:
    .word 0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1
    .word 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3
    .word 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786
    .word 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da
    .word 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147
    .word 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13
    .word 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b
    .word 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070
    .word 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a
    .word 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208
    .word 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2
.Lconstants_end:
