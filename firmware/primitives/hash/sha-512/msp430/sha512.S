/* SHA-512's compression. 64-bit words are four registers or eight bytes, least significant first.
   The working variables a .. h are a window of eight words that moves down by one word per round:
   the new a is written below it, and d becomes e in place. The schedule is a window that moves up,
   with the word for sixteen rounds later written above it. After sixteen rounds both move back. */

#define ACC r4, r5, r6, r7
#define V r15
#define W r14
#define K r13

/* The frame. */
#define WINDOW_END 256
#define WINDOW 384
#define SCRATCH 448
#define SECRETS 456
#define STATE SECRETS(sp)
#define LAST SECRETS+2(sp)
#define FRAME_BYTES 460

.macro load address, base, w0, w1, w2, w3
    mov \address(\base), \w0
    mov \address+2(\base), \w1
    mov \address+4(\base), \w2
    mov \address+6(\base), \w3
.endm

.macro store address, base, w0, w1, w2, w3
    mov \w0, \address(\base)
    mov \w1, \address+2(\base)
    mov \w2, \address+4(\base)
    mov \w3, \address+6(\base)
.endm

.macro mix address, base, w0, w1, w2, w3
    xor \address(\base), \w0
    xor \address+2(\base), \w1
    xor \address+4(\base), \w2
    xor \address+6(\base), \w3
.endm

.macro add64 address, base, w0, w1, w2, w3
    add \address(\base), \w0
    addc \address+2(\base), \w1
    addc \address+4(\base), \w2
    addc \address+6(\base), \w3
.endm

/* Add to r4 .. r7. */
.macro sum w0, w1, w2, w3
    add \w0, r4
    addc \w1, r5
    addc \w2, r6
    addc \w3, r7
.endm

/* Rotations by 1: 5 cycles. */
.macro left1 w0, w1, w2, w3
    rla \w0
    rlc \w1
    rlc \w2
    rlc \w3
    adc \w0
.endm

.macro right1 w0, w1, w2, w3
    bit #1, \w0
    rrc \w3
    rrc \w2
    rrc \w1
    rrc \w0
.endm

/* Swaps the low bytes of two registers; overwrites r12. */
.macro exchange u, v
    mov.b \u, r12
    xor.b \v, r12
    xor r12, \u
    xor r12, \v
.endm

/* r8 .. r11 rotated right by 8, 16 cycles: the result is in r9, r10, r11, r8. */
.macro right8
    swpb r8
    swpb r9
    swpb r10
    swpb r11
    exchange r11, r10
    exchange r10, r9
    exchange r9, r8
.endm

/* Ch(e, f, g) = (e and f) + (g and not e), 16 bits. */
.macro choose at, w
    mov 32+\at(V), \w
    mov 48+\at(V), r12
    bic \w, r12
    and 40+\at(V), \w
    bis r12, \w
.endm

/* Maj(a, b, c) = (a and b) or (c and (a or b)), 16 bits. */
.macro majority at, w
    mov \at(V), \w
    mov \w, r12
    bis 8+\at(V), r12
    and 16+\at(V), r12
    and 8+\at(V), \w
    bis r12, \w
.endm

    .text
    .globl sha512_compress
    .type sha512_compress, @function
    .p2align 1
/* void sha512_compress(uint64_t state[8], const uint8_t *block) */
sha512_compress:
    push r4
    push r5
    push r6
    push r7
    push r8
    push r9
    push r10
    sub #FRAME_BYTES, sp
    mov r12, STATE
    mov sp, W
    mov sp, V
    add #128, V
.Lload:
    .irp byte, 7, 6, 5, 4, 3, 2, 1, 0
    mov.b @r13+, r4
    mov.b r4, \byte(W)
    .endr
    add #8, W
    cmp V, W
    jne .Lload
    add #WINDOW-128, V
    mov V, W
    add #64, W
.Lcopy_state:
    mov @r12+, r4
    mov r4, 0(V)
    incd V
    cmp W, V
    jne .Lcopy_state
    mov sp, r12
    add #WINDOW_END, r12
    mov r12, LAST
    mov #.Lconstants, K

.Lsixteen_rounds:
    mov sp, W
    mov sp, V
    add #WINDOW, V

/* One round (FIPS 180-4, 6.4.2, step 3): T1 = h + K + W + Ch(e, f, g) + Sigma1(e). */
.Lround:
    load 56, V, ACC
    add @K+, r4
    addc @K+, r5
    addc @K+, r6
    addc @K+, r7
    add @W+, r4
    addc @W+, r5
    addc @W+, r6
    addc @W+, r7
    choose 0, r8
    choose 2, r9
    choose 4, r10
    choose 6, r11
    sum r8, r9, r10, r11
    /* Sigma1(e): right by 14, 18, 41 = 14 of (e ^ 4 of (e ^ 23 of e)), 23 = 16 + 8 - 1 */
    load 32, V, r8, r9, r10, r11
    right8
    left1 r10, r11, r8, r9
    mix 32, V, r10, r11, r8, r9
    .rept 4
    right1 r10, r11, r8, r9
    .endr
    mix 32, V, r10, r11, r8, r9
    left1 r11, r8, r9, r10
    left1 r11, r8, r9, r10
    sum r11, r8, r9, r10
    /* e = d + T1 */
    add r4, 24(V)
    addc r5, 26(V)
    addc r6, 28(V)
    addc r7, 30(V)
    /* a = T1 + Maj(a, b, c) + Sigma0(a) */
    majority 0, r8
    majority 2, r9
    majority 4, r10
    majority 6, r11
    sum r8, r9, r10, r11
    /* Sigma0(a): right by 34, 39, 28 = 34 of (a ^ 5 of (a ^ 53 of a)), 53 = 48 + 5 */
    load 0, V, r8, r9, r10, r11
    .rept 5
    right1 r8, r9, r10, r11
    .endr
    mix 0, V, r11, r8, r9, r10
    .rept 5
    right1 r11, r8, r9, r10
    .endr
    mix 0, V, r11, r8, r9, r10
    right1 r11, r8, r9, r10
    right1 r11, r8, r9, r10
    sum r9, r10, r11, r8
    store -8, V, ACC
    sub #8, V
    cmp #.Lconstants+8*64+2, K
    jlo .Lschedule
    br #.Lnext

/* W for sixteen rounds later (6.4.2, step 1), while W points to the next round's. */
.Lschedule:
    load -8, W, ACC
    add64 64, W, ACC
    /* sigma0: right by 1 and 8, and a shift by 7: 1 of (x ^ 7 of x) */
    load 0, W, r8, r9, r10, r11
    right8
    left1 r9, r10, r11, r8
    mov r8, r12
    and #0x1ff, r12
    store SCRATCH, sp, r9, r10, r11, r12
    mix 0, W, r9, r10, r11, r8
    right1 r9, r10, r11, r8
    mix SCRATCH, sp, r9, r10, r11, r8
    sum r9, r10, r11, r8
    /* sigma1: right by 61 and 19, and a shift by 6: 61 of (x ^ 16 + 6 of x) */
    load 104, W, r8, r9, r10, r11
    right8
    left1 r9, r10, r11, r8
    left1 r9, r10, r11, r8
    mov r8, r12
    and #0x3ff, r12
    store SCRATCH, sp, r9, r10, r11, r12
    mix 104, W, r10, r11, r8, r9
    .rept 3
    left1 r10, r11, r8, r9
    .endr
    mix SCRATCH, sp, r10, r11, r8, r9
    sum r10, r11, r8, r9
    store 120, W, ACC

.Lnext:
    cmp LAST, V
    jeq .Lwindows_used
    br #.Lround
.Lwindows_used:
    cmp #.Lconstants_end, K
    jeq .Lfeed_forward
    /* W is at the end of the first half of its windows: move it back by 128 bytes, and V up by as
       many. */
    mov #64, r12
.Lback:
    mov 0(W), -128(W)
    incd W
    dec r12
    jnz .Lback
    mov #32, r12
.Lup:
    mov @V+, r4
    mov r4, 126(V)
    dec r12
    jnz .Lup
    br #.Lsixteen_rounds

.Lfeed_forward:
    mov STATE, r12
    .irp word, 0, 8, 16, 24, 32, 40, 48, 56
    load \word, V, ACC
    add r4, \word(r12)
    addc r5, \word+2(r12)
    addc r6, \word+4(r12)
    addc r7, \word+6(r12)
    .endr

    add #SECRETS, sp
    mov #SECRETS/24, r12
.Lwipe:
    .rept 12
    push #0
    .endr
    dec r12
    jnz .Lwipe
    add #FRAME_BYTES, sp
    pop r10
    pop r9
    pop r8
    pop r7
    pop r6
    pop r5
    pop r4
    ret
    .size sha512_compress, . - sha512_compress

    .section .rodata.sha512_compress, "a", @progbits
    .p2align 1
/* FIPS 180-4, section 4.2.3. */
.Lconstants:
    .quad 0x428a2f98d728ae22, 0x7137449123ef65cd, 0xb5c0fbcfec4d3b2f, 0xe9b5dba58189dbbc
    .quad 0x3956c25bf348b538, 0x59f111f1b605d019, 0x923f82a4af194f9b, 0xab1c5ed5da6d8118
    .quad 0xd807aa98a3030242, 0x12835b0145706fbe, 0x243185be4ee4b28c, 0x550c7dc3d5ffb4e2
    .quad 0x72be5d74f27b896f, 0x80deb1fe3b1696b1, 0x9bdc06a725c71235, 0xc19bf174cf692694
    .quad 0xe49b69c19ef14ad2, 0xefbe4786384f25e3, 0x0fc19dc68b8cd5b5, 0x240ca1cc77ac9c65
    .quad 0x2de92c6f592b0275, 0x4a7484aa6ea6e483, 0x5cb0a9dcbd41fbd4, 0x76f988da831153b5
    .quad 0x983e5152ee66dfab, 0xa831c66d2db43210, 0xb00327c898fb213f, 0xbf597fc7beef0ee4
    .quad 0xc6e00bf33da88fc2, 0xd5a79147930aa725, 0x06ca6351e003826f, 0x142929670a0e6e70
    .quad 0x27b70a8546d22ffc, 0x2e1b21385c26c926, 0x4d2c6dfc5ac42aed, 0x53380d139d95b3df
    .quad 0x650a73548baf63de, 0x766a0abb3c77b2a8, 0x81c2c92e47edaee6, 0x92722c851482353b
    .quad 0xa2bfe8a14cf10364, 0xa81a664bbc423001, 0xc24b8b70d0f89791, 0xc76c51a30654be30
    .quad 0xd192e819d6ef5218, 0xd69906245565a910, 0xf40e35855771202a, 0x106aa07032bbd1b8
    .quad 0x19a4c116b8d2d0c8, 0x1e376c085141ab53, 0x2748774cdf8eeb99, 0x34b0bcb5e19b48a8
    .quad 0x391c0cb3c5c95a63, 0x4ed8aa4ae3418acb, 0x5b9cca4f7763e373, 0x682e6ff3d6b2b8a3
    .quad 0x748f82ee5defb2fc, 0x78a5636f43172f60, 0x84c87814a1f0ab72, 0x8cc702081a6439ec
    .quad 0x90befffa23631e28, 0xa4506cebde82bde9, 0xbef9a3f7b2c67915, 0xc67178f2e372532b
    .quad 0xca273eceea26619c, 0xd186b8c721c0c207, 0xeada7dd6cde0eb1e, 0xf57d4f7fee6ed178
    .quad 0x06f067aa72176fba, 0x0a637dc5a2c898a6, 0x113f9804bef90dae, 0x1b710b35131c471b
    .quad 0x28db77f523047d84, 0x32caab7b40c72493, 0x3c9ebe0a15c9bebc, 0x431d67c49c100d4c
    .quad 0x4cc5d4becb3e42b6, 0x597f299cfc657e2a, 0x5fcb6fab3ad6faec, 0x6c44198c4a475817
.Lconstants_end:
