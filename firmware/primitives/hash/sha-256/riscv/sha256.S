/* SHA-256's compression. The working variables and the schedule, a ring of 16 words, are in
   registers: 16 rounds, then three times 16 rounds that first compute their word in place. */
#include "riscv.inc"

#define A a0
#define B a1
#define C a2
#define D a3
#define E a4
#define F a5
#define G a6
#define H a7
#define STATE_WORDS A, B, C, D, E, F, G, H
#define W0 t0
#define W1 t1
#define W2 t2
#define W3 t3
#define W4 t4
#define W5 t5
#define W6 t6
#define W7 ra
#define W8 s0
#define W9 s1
#define W10 s2
#define W11 s3
#define W12 s4
#define W13 s5
#define W14 s6
#define W15 s7
#define WORDS W0, W1, W2, W3, W4, W5, W6, W7, W8, W9, W10, W11, W12, W13, W14, W15
#define X s8 /* b ^ c, or a ^ b, which is that of the next round */
#define Y s9
#define T s10
#define K s11 /* the constants' address; the data's before the rounds */

/* The frame, below the saved registers. */
#define STATE 0(sp)
#define DATA 4(sp)
#define BLOCKS 8(sp)
#define SAVED s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, ra
#define FRAME 64

/* Word w of the schedule from the one 16 before it, in \w, and those 15, 7 and 2 before it (FIPS
   180-4, 6.2.2, step 1); y is free. */
.macro expand w, w15, w7, w2, y
    rori    T, \w15, 11
    xor     T, T, \w15
    rori    T, T, 7
    srli    \y, \w15, 3
    xor     T, T, \y
    add     \w, \w, T
    rori    T, \w2, 2
    xor     T, T, \w2
    rori    T, T, 17
    srli    \y, \w2, 10
    xor     T, T, \y
    add     \w, \w, \w7
    add     \w, \w, T
.endm

/* One round (step 3). In: x = b ^ c. Out: the new a in h, and y = its b ^ c. */
.macro round k, w, a, b, c, d, e, f, g, h, x, y
    lw      T, 4 * \k(K)
    add     \h, \h, \w
    xor     \y, \a, \b
    add     \h, \h, T
    /* Ch(e, f, g) = ((f ^ g) and e) ^ g */
    xor     T, \f, \g
    and     T, T, \e
    xor     T, T, \g
    add     \h, \h, T
    /* Sigma1(e): right by 6, 11, 25 */
    rori    T, \e, 14
    xor     T, T, \e
    rori    T, T, 5
    xor     T, T, \e
    rori    T, T, 6
    add     \h, \h, T
    add     \d, \d, \h
    /* Maj(a, b, c) = ((a ^ b) and (b ^ c)) ^ b */
    and     \x, \x, \y
    xor     \x, \x, \b
    add     \h, \h, \x
    /* Sigma0(a): right by 2, 13, 22 */
    rori    T, \a, 9
    xor     T, T, \a
    rori    T, T, 11
    xor     T, T, \a
    rori    T, T, 2
    add     \h, \h, T
.endm

.macro later_round k, w, a, b, c, d, e, f, g, h, x, y, w15, w7, w2
    expand  \w, \w15, \w7, \w2, \y
    round   \k, \w, \a, \b, \c, \d, \e, \f, \g, \h, \x, \y
.endm

/* Sixteen rounds; words of the schedule 1, 9 and 14 further on in the ring are those 15, 7 and 2
   before. */
.macro rounds round
    \round  0, W0, A, B, C, D, E, F, G, H, X, Y, W1, W9, W14
    \round  1, W1, H, A, B, C, D, E, F, G, Y, X, W2, W10, W15
    \round  2, W2, G, H, A, B, C, D, E, F, X, Y, W3, W11, W0
    \round  3, W3, F, G, H, A, B, C, D, E, Y, X, W4, W12, W1
    \round  4, W4, E, F, G, H, A, B, C, D, X, Y, W5, W13, W2
    \round  5, W5, D, E, F, G, H, A, B, C, Y, X, W6, W14, W3
    \round  6, W6, C, D, E, F, G, H, A, B, X, Y, W7, W15, W4
    \round  7, W7, B, C, D, E, F, G, H, A, Y, X, W8, W0, W5
    \round  8, W8, A, B, C, D, E, F, G, H, X, Y, W9, W1, W6
    \round  9, W9, H, A, B, C, D, E, F, G, Y, X, W10, W2, W7
    \round  10, W10, G, H, A, B, C, D, E, F, X, Y, W11, W3, W8
    \round  11, W11, F, G, H, A, B, C, D, E, Y, X, W12, W4, W9
    \round  12, W12, E, F, G, H, A, B, C, D, X, Y, W13, W5, W10
    \round  13, W13, D, E, F, G, H, A, B, C, Y, X, W14, W6, W11
    \round  14, W14, C, D, E, F, G, H, A, B, X, Y, W15, W7, W12
    \round  15, W15, B, C, D, E, F, G, H, A, Y, X, W0, W8, W13
.endm

.macro first_round k, w, a, b, c, d, e, f, g, h, x, y, w15, w7, w2
    round   \k, \w, \a, \b, \c, \d, \e, \f, \g, \h, \x, \y
.endm

/* void sha256_compress(uint32_t state[8], const uint8_t *data, size_t blocks) */
    .section .text.sha256_compress, "ax", %progbits
    .global sha256_compress
    .type   sha256_compress, %function
    .balign 4
sha256_compress:
    addi    sp, sp, -FRAME
    save    12, SAVED
    sw      a0, STATE
    sw      a1, DATA
    sw      a2, BLOCKS
    mv      T, a0
    .set    place, 0
    .irp    word, STATE_WORDS
    lw      \word, place(T)
    .set    place, place + 4
    .endr
    .balign 4
1:
    lw      K, DATA
    andi    T, K, 3
    bnez    T, 5f
    .set    place, 0
    .irp    word, WORDS
    lw      \word, place(K)
    .set    place, place + 4
    .endr
    .irp    word, WORDS
    rev8    \word, \word
    .endr
2:
    addi    K, K, 64
    sw      K, DATA
    la      K, constants
    xor     X, B, C
    rounds  first_round
    addi    K, K, 64
    .balign 4
3:
    rounds  later_round
    la      T, constants + 192
    addi    K, K, 64
    bltu    T, K, 4f
    j       3b
4:
    lw      T, STATE
    .set    place, 0
    .irp    word, W0, W1, W2, W3, W4, W5, W6, W7
    lw      \word, place(T)
    .set    place, place + 4
    .endr
    add     A, A, W0
    add     B, B, W1
    add     C, C, W2
    add     D, D, W3
    add     E, E, W4
    add     F, F, W5
    add     G, G, W6
    add     H, H, W7
    .set    place, 0
    .irp    word, STATE_WORDS
    sw      \word, place(T)
    .set    place, place + 4
    .endr
    lw      T, BLOCKS
    addi    T, T, -1
    sw      T, BLOCKS
    beqz    T, 6f
    j       1b
6:
    restore 12, SAVED
    addi    sp, sp, FRAME
    clear   a0, a1, a2, a3, a4, a5, a6, a7, t0, t1, t2, t3, t4, t5, t6
    ret

/* At any address. */
5:
    .set    place, 0
    .irp    word, WORDS
    lbu     \word, place + 3(K)
    lbu     T, place + 2(K)
    lbu     X, place + 1(K)
    lbu     Y, place(K)
    packh   \word, \word, T
    packh   X, X, Y
    pack    \word, \word, X
    .set    place, place + 4
    .endr
    j       2b
    .size   sha256_compress, . - sha256_compress

/* FIPS 180-4, 4.2.2 */
    .section .rodata.sha256_constants, "a", %progbits
    .balign 4
constants:
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
