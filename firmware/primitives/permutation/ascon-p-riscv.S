/* The Ascon permutation for RISC-V with Zbb and Zbkb, and whole blocks of messages; see ascon-p.h.
   Each word is stored as two, its even bits (E) and its odd bits (O), and all stay in registers. */
#include "riscv.inc"

#define STATE a0
#define E0 a1
#define O0 a2
#define E1 a3
#define O1 a4
#define E2 a5
#define O2 a6
#define E3 a7
#define O3 t0
#define E4 t1
#define O4 t2
#define WORDS E0, O0, E1, O1, E2, O2, E3, O3, E4, O4
#define T t3
#define U t4
#define V t5
#define W t6
#define IN s0
#define OUT s1
#define LEFT s2
#define DECRYPTING s3

.macro load_state
    .set    place, 0
    .irp    word, WORDS
    lw      \word, place(STATE)
    .set    place, place + 4
    .endr
.endm

.macro store_state
    .set    place, 0
    .irp    word, WORDS
    sw      \word, place(STATE)
    .set    place, place + 4
    .endr
.endm

.macro clear_state
    clear   WORDS, T, U, V, W
.endm

/* pS (SP 800-232, figure 3), of one half of the words. With p, q and r the exclusive or of x0 and
   x4, x1 and x2, x3 and x4, it is
       x0 = r ^ (x1 | (p ^ q))     x1 = p ^ (q | (x1 ^ x3))     x2 = q ^ (x3 | ~x4)
       x3 = q ^ (r | x0)           x4 = r ^ (x1 & ~p)
   as the 32 cases of figure 3's table show. */
.macro substitute x0, x1, x2, x3, x4
    xor     \x2, \x2, \x1
    xor     T, \x0, \x4
    orn     U, \x3, \x4
    xor     \x4, \x4, \x3
    or      V, \x0, \x4
    xor     \x0, T, \x2
    or      \x0, \x0, \x1
    xor     \x0, \x0, \x4
    xor     \x3, \x3, \x1
    andn    \x1, \x1, T
    or      \x3, \x3, \x2
    xor     \x4, \x4, \x1
    xor     \x1, \x3, T
    xor     \x3, V, \x2
    xor     \x2, \x2, U
.endm

/* Adds a word rotated right by n: an odd amount swaps even and odd bits. */
.macro rotated to_even, to_odd, even, odd, n
    .if     \n % 2 == 0
    rori    \to_even, \even, \n / 2
    rori    \to_odd, \odd, \n / 2
    .else
    .if     \n > 1
    rori    \to_even, \odd, \n / 2
    .endif
    rori    \to_odd, \even, \n / 2 + 1
    .endif
.endm

/* pL of a word rotated right by n and by m. */
.macro diffuse even, odd, n, m
    rotated T, U, \even, \odd, \m
    .if     \n == 1
    rori    W, \even, 1
    xor     \even, \even, \odd
    .else
    rotated V, W, \even, \odd, \n
    xor     \even, \even, V
    .endif
    xor     \odd, \odd, W
    xor     \even, \even, T
    xor     \odd, \odd, U
.endm

/* A round, with the halves of its constant. */
.macro round even, odd
    .if     \even
    xori    E2, E2, \even
    .endif
    .if     \odd
    xori    O2, O2, \odd
    .endif
    substitute E0, E1, E2, E3, E4
    substitute O0, O1, O2, O3, O4
    diffuse E0, O0, 19, 28
    diffuse E1, O1, 61, 39
    diffuse E2, O2, 1, 6
    diffuse E3, O3, 10, 17
    diffuse E4, O4, 7, 41
.endm

/* On the state in registers. */
    .section .text.ascon_rounds, "ax", %progbits
    .balign 4
twelve_rounds:
    round   12, 12
    round   9, 12
    round   12, 9
    round   9, 9
    .balign 4
eight_rounds:
    round   6, 12
    round   3, 12
    round   6, 9
    round   3, 9
    round   12, 6
    round   9, 6
    round   12, 3
    round   9, 3
    ret

/* void ascon_p(ascon_state *s, unsigned rounds) */
    .section .text.ascon_p, "ax", %progbits
    .global ascon_p
    .type   ascon_p, %function
    .balign 4
ascon_p:
    addi    sp, sp, -16
    sw      ra, 12(sp)
    addi    T, a1, -8
    load_state
    beqz    T, 1f
    call    twelve_rounds
    j       2f
1:
    call    eight_rounds
2:
    store_state
    lw      ra, 12(sp)
    addi    sp, sp, 16
    clear_state
    ret
    .size   ascon_p, . - ascon_p

/* Eight bytes at any address, as even and odd bits. */
.macro load_bits even, odd, at
    andi    T, IN, 3
    beqz    T, 7f
    gather_word T, \at, IN, \even, \odd
    gather_word U, \at + 4, IN, \even, \odd
    j       8f
    .balign 4
7:
    lw      T, \at(IN)
    lw      U, \at + 4(IN)
8:
    unzip   T, T
    unzip   U, U
    pack    \even, T, U
    srli    T, T, 16
    srli    U, U, 16
    pack    \odd, T, U
.endm

.macro store_bits even, odd, at
    pack    T, \even, \odd
    srli    U, \even, 16
    zip     T, T
    srli    V, \odd, 16
    pack    U, U, V
    andi    V, OUT, 3
    zip     U, U
    beqz    V, 7f
    scatter_word T, \at, OUT
    scatter_word U, \at + 4, OUT
    j       8f
    .balign 4
7:
    sw      T, \at(OUT)
    sw      U, \at + 4(OUT)
8:
.endm

/* void ascon_absorb(ascon_state *s, const uint8_t *data, size_t blocks) */
    .section .text.ascon_absorb, "ax", %progbits
    .global ascon_absorb
    .type   ascon_absorb, %function
    .balign 4
ascon_absorb:
    addi    sp, sp, -16
    save    0, s0, s2, ra
    mv      IN, a1
    mv      LEFT, a2
    load_state
    .balign 4
1:
    load_bits V, W, 0
    xor     E0, E0, V
    xor     O0, O0, W
    addi    IN, IN, 8
    call    twelve_rounds
    addi    LEFT, LEFT, -1
    bnez    LEFT, 1b
    store_state
    restore 0, s0, s2, ra
    addi    sp, sp, 16
    clear_state
    ret
    .size   ascon_absorb, . - ascon_absorb

/* Encrypts or decrypts a word of the message with one of the state. */
.macro crypt_word even, odd, at
    load_bits V, W, \at
    xor     \even, \even, V
    xor     \odd, \odd, W
    mv      s4, V
    store_bits \even, \odd, \at
    beqz    DECRYPTING, 7f
    mv      \even, s4
    mv      \odd, W
    .balign 4
7:
.endm

/* void ascon_crypt(ascon_state *s, uint8_t *out, const uint8_t *in, size_t blocks, int decrypting) */
    .section .text.ascon_crypt, "ax", %progbits
    .global ascon_crypt
    .type   ascon_crypt, %function
    .balign 4
ascon_crypt:
    addi    sp, sp, -32
    save    0, s0, s1, s2, s3, s4, ra
    mv      OUT, a1
    mv      IN, a2
    mv      LEFT, a3
    mv      DECRYPTING, a4
    load_state
    .balign 4
1:
    crypt_word E0, O0, 0
    crypt_word E1, O1, 8
    addi    IN, IN, 16
    addi    OUT, OUT, 16
    call    eight_rounds
    addi    LEFT, LEFT, -1
    bnez    LEFT, 1b
    store_state
    restore 0, s0, s1, s2, s3, s4, ra
    addi    sp, sp, 32
    clear_state
    ret
    .size   ascon_crypt, . - ascon_crypt
