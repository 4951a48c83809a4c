/* SHA-256's compression. Only the lower registers compute: they hold a and e; b, c, d, f, g and h
   are in upper ones. RORS takes its distance from a register: sums of three rotations nest, and
   one distance stays in a register. The schedule is a ring of 16 words: sixteen rounds, then
   sixteen words computed in place. */
    .syntax unified
    .thumb

/* The frame. */
#define RING 0
#define SAVED_A 64
#define SAVED_E 68
#define CONSTANTS 72
#define CONSTANTS_END 76
#define FRAME_BYTES 80
#define STATE (FRAME_BYTES + 16)
#define DATA (FRAME_BYTES + 20)
#define BLOCKS (FRAME_BYTES + 24)

/* One round (FIPS 180-4, 6.2.2, step 3). In: bc = b ^ c, r5 the constant's address, r6 = 11. Out:
   the new a in \t, the new e in r1, the new b and f in the registers of d and h, and \x = a ^ b,
   which is b ^ c of the next round. */
.macro round i, a, t, bc, x, b, c, d, f, g, h
    ldmia   r5!, {\t}
    ldr     \x, [sp, #RING + 4 * (\i)]
    adds    \t, \t, \x
    add     \t, \h
    /* Ch(e, f, g) = ((f ^ g) and e) ^ g */
    mov     \x, \f
    mov     r4, \g
    eors    \x, \x, r4
    ands    \x, \x, r1
    eors    \x, \x, r4
    adds    \t, \t, \x
    /* Sigma1(e): right by 11, 25 and 6 = 11 + 14 + 13 - 32 */
    movs    r4, #13
    movs    \x, r1
    rors    \x, \x, r4
    eors    \x, \x, r1
    movs    r4, #14
    rors    \x, \x, r4
    eors    \x, \x, r1
    rors    \x, \x, r6
    adds    \t, \t, \x
    mov     \h, r1
    mov     r1, \d
    adds    r1, r1, \t
    /* Maj(a, b, c) = ((a ^ b) and (b ^ c)) ^ b */
    mov     r4, \b
    movs    \x, \a
    eors    \x, \x, r4
    ands    \bc, \bc, \x
    eors    \bc, \bc, r4
    adds    \t, \t, \bc
    mov     \d, \a
    /* Sigma0(a): right by 2, 13 = 2 + 11 and 22 = 2 + 11 + 9 */
    movs    r4, #9
    movs    \bc, \a
    rors    \bc, \bc, r4
    eors    \bc, \bc, \a
    rors    \bc, \bc, r6
    eors    \bc, \bc, \a
    movs    r4, #2
    rors    \bc, \bc, r4
    adds    \t, \t, \bc
.endm

/* Six rounds bring all names back to their registers. */
.macro two_rounds i, b, c, d, f, g, h
    round   \i, r0, r2, r7, r3, \b, \c, \d, \f, \g, \h
    round   \i + 1, r2, r0, r3, r7, \d, \b, \c, \h, \f, \g
.endm

.macro rotate_names x, y, z
    mov     r3, \x
    mov     \x, \y
    mov     \y, \z
    mov     \z, r3
.endm

/* W(t - 16) becomes W(t) = sigma1(W(t - 2)) + W(t - 7) + sigma0(W(t - 15)) + W(t - 16), where t2 is
   W(t - 2), which is not needed afterwards and gives its register to W(t). r4 to r7 are 7, 11, 17
   and 2. */
.macro extend i, t2
    ldr     r0, [sp, #RING + 4 * (((\i) + 1) & 15)]
    movs    r1, r0
    rors    r1, r1, r5
    eors    r1, r1, r0
    rors    r1, r1, r4
    lsrs    r0, r0, #3
    eors    r1, r1, r0
    ldr     r0, [sp, #RING + 4 * (\i)]
    adds    r1, r1, r0
    ldr     r0, [sp, #RING + 4 * (((\i) + 9) & 15)]
    adds    r1, r1, r0
    movs    r0, \t2
    rors    r0, r0, r7
    eors    r0, r0, \t2
    rors    r0, r0, r6
    lsrs    \t2, \t2, #10
    eors    \t2, \t2, r0
    adds    \t2, \t2, r1
    str     \t2, [sp, #RING + 4 * (\i)]
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
    push    {r0-r2, r4-r7, lr}
    mov     r4, r8
    mov     r5, r9
    mov     r6, r10
    mov     r7, r11
    push    {r4-r7}
    sub     sp, #FRAME_BYTES
    ldr     r0, =.Lconstants
    str     r0, [sp, #CONSTANTS]
    movs    r1, #0xff
    adds    r1, #1
    adds    r0, r0, r1
    str     r0, [sp, #CONSTANTS_END]
    b       .Lblock
    .p2align 2
    .ltorg

.Lextend:
    str     r0, [sp, #SAVED_A]
    str     r1, [sp, #SAVED_E]
    str     r5, [sp, #CONSTANTS]
    ldr     r2, [sp, #RING + 4 * 14]
    ldr     r3, [sp, #RING + 4 * 15]
    movs    r4, #7
    movs    r5, #11
    movs    r6, #17
    movs    r7, #2
    .irp    i, 0, 2, 4, 6, 8, 10, 12, 14
    extend  \i, r2
    extend  \i + 1, r3
    .endr
    ldr     r0, [sp, #SAVED_A]
    ldr     r1, [sp, #SAVED_E]
.Lsixteen_rounds:
    ldr     r5, [sp, #CONSTANTS]
    movs    r6, #11
    mov     r7, r8
    mov     r3, r9
    eors    r7, r7, r3
    two_rounds 0, r8, r9, r10, r11, r12, lr
    two_rounds 2, r9, r10, r8, r12, lr, r11
    two_rounds 4, r10, r8, r9, lr, r11, r12
    two_rounds 6, r8, r9, r10, r11, r12, lr
    two_rounds 8, r9, r10, r8, r12, lr, r11
    two_rounds 10, r10, r8, r9, lr, r11, r12
    two_rounds 12, r8, r9, r10, r11, r12, lr
    two_rounds 14, r9, r10, r8, r12, lr, r11
    rotate_names r8, r10, r9
    rotate_names r11, lr, r12
    ldr     r3, [sp, #CONSTANTS_END]
    cmp     r5, r3
    beq     .Lfeed_forward
    b       .Lextend

.macro feed_forward variable
    ldr     r3, [r2]
    add     r3, \variable
    stmia   r2!, {r3}
.endm

.Lfeed_forward:
    ldr     r2, [sp, #STATE]
    feed_forward r0
    feed_forward r8
    feed_forward r9
    feed_forward r10
    feed_forward r1
    feed_forward r11
    feed_forward r12
    feed_forward lr
    ldr     r3, [sp, #CONSTANTS_END]
    subs    r3, #0xff
    subs    r3, #1
    str     r3, [sp, #CONSTANTS]
    ldr     r0, [sp, #BLOCKS]
    subs    r0, #1
    str     r0, [sp, #BLOCKS]
    beq     .Lleave

.Lblock:
    ldr     r1, [sp, #DATA]
    mov     r0, sp
    lsls    r2, r1, #30
    bne     .Lunaligned
    .rept   4
    ldmia   r1!, {r2-r5}
    rev     r2, r2
    rev     r3, r3
    rev     r4, r4
    rev     r5, r5
    stmia   r0!, {r2-r5}
    .endr
.Lloaded:
    str     r1, [sp, #DATA]
    ldr     r2, [sp, #STATE]
    ldmia   r2!, {r0, r3-r5}
    mov     r8, r3
    mov     r9, r4
    mov     r10, r5
    ldmia   r2!, {r1, r3-r5}
    mov     r11, r3
    mov     r12, r4
    mov     lr, r5
    b       .Lsixteen_rounds

.Lunaligned:
    movs    r6, #16
1:  ldrb    r2, [r1]
    ldrb    r3, [r1, #1]
    ldrb    r4, [r1, #2]
    ldrb    r5, [r1, #3]
    lsls    r2, r2, #8
    adds    r2, r2, r3
    lsls    r2, r2, #8
    adds    r2, r2, r4
    lsls    r2, r2, #8
    adds    r2, r2, r5
    stmia   r0!, {r2}
    adds    r1, #4
    subs    r6, #1
    bne     1b
    b       .Lloaded

.Lleave:
    mov     r0, sp
    movs    r1, #0
    movs    r2, #0
    movs    r3, #0
    movs    r4, #0
    .rept   FRAME_BYTES / 16
    stmia   r0!, {r1-r4}
    .endr
    mov     r12, r1
    add     sp, #FRAME_BYTES
    pop     {r4-r7}
    mov     r8, r4
    mov     r9, r5
    mov     r10, r6
    mov     r11, r7
    pop     {r0-r2, r4-r7, pc}
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
