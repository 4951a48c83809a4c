/* SHA-512's compression. a, e, and b ^ c are in registers; all eight working variables are in slots
   of RAM that are never moved: from round to round each slot takes the next letter. The schedule is
   a ring of 16 words: sixteen rounds, then sixteen words computed in place. 64-bit words are pairs,
   low half first. */
    .syntax unified
    .thumb

/* The frame. */
#define V 0
#define RING 64
#define RING_END 192
#define FRAME_BYTES 192
#define STATE 192

#define EL r2
#define EH r3
#define PL r8
#define PH r9
#define K r12
#define W lr

.macro add64 al, ah, bl, bh
    adds    \al, \al, \bl
    adc     \ah, \ah, \bh
.endm

/* Low half of hi:lo rotated right by n < 32; for its high half, swap hi and lo. For 32 + n, swap
   them again. */
.macro first d, lo, hi, n
    lsr     \d, \lo, #\n
    eor     \d, \d, \hi, lsl #32 - \n
.endm

.macro next d, lo, hi, n
    eor     \d, \d, \lo, lsr #\n
    eor     \d, \d, \hi, lsl #32 - \n
.endm

/* The slot of letter 0 (a) to 7 (h) in round i. */
.macro fetch low, high, letter, i
    ldr     \low, [sp, #V + 8 * ((\letter - \i) & 7)]
    ldr     \high, [sp, #V + 8 * ((\letter - \i) & 7) + 4]
.endm

.macro put low, high, letter, i
    str     \low, [sp, #V + 8 * ((\letter - \i) & 7)]
    str     \high, [sp, #V + 8 * ((\letter - \i) & 7) + 4]
.endm

/* A round (FIPS 180-4, 6.4.2, step 3). In: a, e, x = b ^ c. Out: the new a in t, e, and its b ^ c
   in y, so the next call swaps a with t and x with y. a is stored one round later, because a store
   costs less after a load than before one. */
.macro round i, al, ah, tl, th, xl, xh, yl, yh
    fetch   \tl, \th, 7, \i
    ldr     PL, [W, #8 * \i]
    ldr     PH, [W, #8 * \i + 4]
    ldr     \yl, [K, #8 * \i]
    ldr     \yh, [K, #8 * \i + 4]
    put     \al, \ah, 0, \i
    add64   \tl, \th, PL, PH
    add64   \tl, \th, \yl, \yh
    /* Ch(e, f, g) = ((f ^ g) and e) ^ g */
    fetch   PL, PH, 5, \i
    fetch   \yl, \yh, 6, \i
    eor     PL, PL, \yl
    eor     PH, PH, \yh
    and     PL, PL, EL
    and     PH, PH, EH
    eor     PL, PL, \yl
    eor     PH, PH, \yh
    add64   \tl, \th, PL, PH
    /* Sigma1(e): right by 14, 18, 41 */
    first   PL, EL, EH, 14
    first   PH, EH, EL, 14
    next    PL, EL, EH, 18
    next    PH, EH, EL, 18
    next    PL, EH, EL, 9
    next    PH, EL, EH, 9
    add64   \tl, \th, PL, PH
    fetch   PL, PH, 3, \i
    adds    EL, PL, \tl
    adc     EH, PH, \th
    /* Maj(a, b, c) = ((a ^ b) and (b ^ c)) ^ b */
    fetch   PL, PH, 1, \i
    put     EL, EH, 3, \i
    eor     \yl, \al, PL
    eor     \yh, \ah, PH
    and     \xl, \xl, \yl
    and     \xh, \xh, \yh
    eor     \xl, \xl, PL
    eor     \xh, \xh, PH
    add64   \tl, \th, \xl, \xh
    /* Sigma0(a): right by 28, 34, 39 */
    first   PL, \al, \ah, 28
    first   PH, \ah, \al, 28
    next    PL, \ah, \al, 2
    next    PH, \al, \ah, 2
    next    PL, \ah, \al, 7
    next    PH, \al, \ah, 7
    add64   \tl, \th, PL, PH
.endm

/* W(t) = sigma1(W(t - 2)) + W(t - 7) + sigma0(W(t - 15)) + W(t - 16). In: n = W(t - 16), which its
   new value replaces; o2 = W(t - 2), o1 = W(t - 1). Out: W(t - 15) in m. Stores W(t - 1). */
.macro extend i, nl, nh, ml, mh, o2l, o2h, o1l, o1h
    ldr     r10, [sp, #RING + 8 * ((\i + 9) & 15)]
    ldr     r11, [sp, #RING + 8 * ((\i + 9) & 15) + 4]
    ldr     \ml, [sp, #RING + 8 * ((\i + 1) & 15)]
    ldr     \mh, [sp, #RING + 8 * ((\i + 1) & 15) + 4]
    .if     \i
    str     \o1l, [sp, #RING + 8 * \i - 8]
    str     \o1h, [sp, #RING + 8 * \i - 4]
    .endif
    add64   \nl, \nh, r10, r11
    /* sigma0: right by 1, 8, shift by 7 */
    first   PL, \ml, \mh, 1
    first   PH, \mh, \ml, 1
    next    PL, \ml, \mh, 8
    next    PH, \mh, \ml, 8
    next    PL, \ml, \mh, 7
    eor     PH, PH, \mh, lsr #7
    add64   \nl, \nh, PL, PH
    /* sigma1: right by 19, 61, shift by 6 */
    first   PL, \o2l, \o2h, 19
    first   PH, \o2h, \o2l, 19
    next    PL, \o2h, \o2l, 29
    next    PH, \o2l, \o2h, 29
    next    PL, \o2l, \o2h, 6
    eor     PH, PH, \o2h, lsr #6
    add64   \nl, \nh, PL, PH
.endm

    .section .text.sha512_compress, "ax", %progbits
    .global sha512_compress
    .type   sha512_compress, %function
    .thumb_func
    .p2align 2
/* void sha512_compress(uint64_t state[8], const uint8_t *block) */
sha512_compress:
    push    {r0, r4-r11, lr}
    sub     sp, #FRAME_BYTES

    /* Loads the block's words, which may be unaligned, then the state. */
    add     r12, sp, #RING
    add     r3, r1, #128
.Lload:
    ldr     r5, [r1]
    ldr     r4, [r1, #4]
    ldr     r7, [r1, #8]
    ldr     r6, [r1, #12]
    adds    r1, #16
    rev     r4, r4
    rev     r5, r5
    rev     r6, r6
    rev     r7, r7
    stmia   r12!, {r4-r7}
    cmp     r1, r3
    bne     .Lload
    ldmia   r0!, {r4-r11}
    mov     r12, sp
    stmia   r12!, {r4-r11}
    ldmia   r0, {r4-r11}
    stmia   r12, {r4-r11}
    movw    K, #:lower16:.Lconstants
    movt    K, #:upper16:.Lconstants

.Lsixteen_rounds:
    add     W, sp, #RING
    fetch   r6, r7, 1, 0
    fetch   r4, r5, 2, 0
    fetch   r0, r1, 0, 0
    fetch   EL, EH, 4, 0
    eor     r4, r4, r6
    eor     r5, r5, r7
.Leight_rounds:
    round   0, r0, r1, r6, r7, r4, r5, r10, r11
    round   1, r6, r7, r0, r1, r10, r11, r4, r5
    round   2, r0, r1, r6, r7, r4, r5, r10, r11
    round   3, r6, r7, r0, r1, r10, r11, r4, r5
    round   4, r0, r1, r6, r7, r4, r5, r10, r11
    round   5, r6, r7, r0, r1, r10, r11, r4, r5
    round   6, r0, r1, r6, r7, r4, r5, r10, r11
    round   7, r6, r7, r0, r1, r10, r11, r4, r5
    add     K, #64
    add     W, #64
    add     r8, sp, #RING_END
    cmp     W, r8
    bne     .Leight_rounds
    put     r0, r1, 0, 0
    movw    r8, #:lower16:.Lconstants_end
    movt    r8, #:upper16:.Lconstants_end
    cmp     K, r8
    beq     .Lfeed_forward

    ldr     r0, [sp, #RING]
    ldr     r1, [sp, #RING + 4]
    ldr     r4, [sp, #RING + 8 * 14]
    ldr     r5, [sp, #RING + 8 * 14 + 4]
    ldr     r6, [sp, #RING + 8 * 15]
    ldr     r7, [sp, #RING + 8 * 15 + 4]
    extend  0, r0, r1, r2, r3, r4, r5, r6, r7
    extend  1, r2, r3, r4, r5, r6, r7, r0, r1
    extend  2, r4, r5, r6, r7, r0, r1, r2, r3
    extend  3, r6, r7, r0, r1, r2, r3, r4, r5
    extend  4, r0, r1, r2, r3, r4, r5, r6, r7
    extend  5, r2, r3, r4, r5, r6, r7, r0, r1
    extend  6, r4, r5, r6, r7, r0, r1, r2, r3
    extend  7, r6, r7, r0, r1, r2, r3, r4, r5
    extend  8, r0, r1, r2, r3, r4, r5, r6, r7
    extend  9, r2, r3, r4, r5, r6, r7, r0, r1
    extend  10, r4, r5, r6, r7, r0, r1, r2, r3
    extend  11, r6, r7, r0, r1, r2, r3, r4, r5
    extend  12, r0, r1, r2, r3, r4, r5, r6, r7
    extend  13, r2, r3, r4, r5, r6, r7, r0, r1
    extend  14, r4, r5, r6, r7, r0, r1, r2, r3
    extend  15, r6, r7, r0, r1, r2, r3, r4, r5
    str     r6, [sp, #RING + 8 * 15]
    str     r7, [sp, #RING + 8 * 15 + 4]
    b       .Lsixteen_rounds

.Lfeed_forward:
    ldr     r12, [sp, #STATE]
    mov     lr, sp
    .rept   4
    ldmia   r12, {r0-r3}
    ldmia   lr!, {r4-r7}
    add64   r0, r1, r4, r5
    add64   r2, r3, r6, r7
    stmia   r12!, {r0-r3}
    .endr

    .irp    register, r0, r1, r2, r3, r4, r5, r6, r7
    movs    \register, #0
    .endr
    add     sp, #FRAME_BYTES
    .rept   FRAME_BYTES / 32
    push    {r0-r7}
    .endr
    add     sp, #FRAME_BYTES + 4
    pop     {r4-r11, pc}
    .size   sha512_compress, . - sha512_compress

    .section .rodata.sha512_compress, "a", %progbits
    .p2align 3
.Lconstants:
    .word 0xd728ae22, 0x428a2f98, 0x23ef65cd, 0x71374491, 0xec4d3b2f, 0xb5c0fbcf
    .word 0x8189dbbc, 0xe9b5dba5, 0xf348b538, 0x3956c25b, 0xb605d019, 0x59f111f1
    .word 0xaf194f9b, 0x923f82a4, 0xda6d8118, 0xab1c5ed5, 0xa3030242, 0xd807aa98
    .word 0x45706fbe, 0x12835b01, 0x4ee4b28c, 0x243185be, 0xd5ffb4e2, 0x550c7dc3
    .word 0xf27b896f, 0x72be5d74, 0x3b1696b1, 0x80deb1fe, 0x25c71235, 0x9bdc06a7
    .word 0xcf692694, 0xc19bf174, 0x9ef14ad2, 0xe49b69c1, 0x384f25e3, 0xefbe4786
    .word 0x8b8cd5b5, 0x0fc19dc6, 0x77ac9c65, 0x240ca1cc, 0x592b0275, 0x2de92c6f
    .word 0x6ea6e483, 0x4a7484aa, 0xbd41fbd4, 0x5cb0a9dc, 0x831153b5, 0x76f988da
    .word 0xee66dfab, 0x983e5152, 0x2db43210, 0xa831c66d, 0x98fb213f, 0xb00327c8
    .word 0xbeef0ee4, 0xbf597fc7, 0x3da88fc2, 0xc6e00bf3, 0x930aa725, 0xd5a79147
    .word 0xe003826f, 0x06ca6351, 0x0a0e6e70, 0x14292967, 0x46d22ffc, 0x27b70a85
    .word 0x5c26c926, 0x2e1b2138, 0x5ac42aed, 0x4d2c6dfc, 0x9d95b3df, 0x53380d13
    .word 0x8baf63de, 0x650a7354, 0x3c77b2a8, 0x766a0abb, 0x47edaee6, 0x81c2c92e
    .word 0x1482353b, 0x92722c85, 0x4cf10364, 0xa2bfe8a1, 0xbc423001, 0xa81a664b
    .word 0xd0f89791, 0xc24b8b70, 0x0654be30, 0xc76c51a3, 0xd6ef5218, 0xd192e819
    .word 0x5565a910, 0xd6990624, 0x5771202a, 0xf40e3585, 0x32bbd1b8, 0x106aa070
    .word 0xb8d2d0c8, 0x19a4c116, 0x5141ab53, 0x1e376c08, 0xdf8eeb99, 0x2748774c
    .word 0xe19b48a8, 0x34b0bcb5, 0xc5c95a63, 0x391c0cb3, 0xe3418acb, 0x4ed8aa4a
    .word 0x7763e373, 0x5b9cca4f, 0xd6b2b8a3, 0x682e6ff3, 0x5defb2fc, 0x748f82ee
    .word 0x43172f60, 0x78a5636f, 0xa1f0ab72, 0x84c87814, 0x1a6439ec, 0x8cc70208
    .word 0x23631e28, 0x90befffa, 0xde82bde9, 0xa4506ceb, 0xb2c67915, 0xbef9a3f7
    .word 0xe372532b, 0xc67178f2, 0xea26619c, 0xca273ece, 0x21c0c207, 0xd186b8c7
    .word 0xcde0eb1e, 0xeada7dd6, 0xee6ed178, 0xf57d4f7f, 0x72176fba, 0x06f067aa
    .word 0xa2c898a6, 0x0a637dc5, 0xbef90dae, 0x113f9804, 0x131c471b, 0x1b710b35
    .word 0x23047d84, 0x28db77f5, 0x40c72493, 0x32caab7b, 0x15c9bebc, 0x3c9ebe0a
    .word 0x9c100d4c, 0x431d67c4, 0xcb3e42b6, 0x4cc5d4be, 0xfc657e2a, 0x597f299c
    .word 0x3ad6faec, 0x5fcb6fab, 0x4a475817, 0x6c44198c
.Lconstants_end:
