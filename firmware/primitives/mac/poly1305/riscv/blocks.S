/* h = (h + m) r modulo 2^130 - 5 for RISC-V with a multiplier of one cycle.

   h is H0 to H3 of 32 bits, and H4. Clamping leaves r0 to r3 below 2^28, and r1 to r3 divisible by
   4: with t_j = 5 r_j / 4, the part of h_i r_j from 2^128 up is h_i t_j at 2^(32 (i + j - 4)).
   Bounds: H4 is at most 6 with a block, so no column reaches 2^63, and the part from 2^128 up is
   below 4 2^28 + 7 2^28: five times its part above 2^130 is below 2^32, and afterwards H4 is at
   most 4. */
#include "riscv.inc"

#define H a0
#define DATA a1
#define END a2
#define TOP a3
#define H0 a4
#define H1 a5
#define H2 a6
#define H3 a7
#define H4 t0
#define R0 t1
#define R1 t2
#define R2 t3
#define R3 t4
#define T1 t5
#define T2 t6
#define T3 s0
#define C0 s1
#define C1 s2
#define C2 s3
#define C3 s4
#define C4 s5
#define U s6
#define V s7
#define SAVED s0, s1, s2, s3, s4, s5, s6, s7

/* Adds a product to a column: x, and y, which carries nothing. */
.macro add_product x, y, a, b
    mul     U, \a, \b
    mulhu   V, \a, \b
    add     \x, \x, U
    sltu    U, \x, U
    add     \y, \y, V
    add     \y, \y, U
.endm

/* The same where y is not set yet. */
.macro first_product x, y, a, b
    mul     U, \a, \b
    mulhu   \y, \a, \b
    add     \x, \x, U
    sltu    U, \x, U
    add     \y, \y, U
.endm

/* The same for a product below 2^32. */
.macro add_word x, y, a, b
    mul     U, \a, \b
    add     \x, \x, U
    sltu    U, \x, U
    add     \y, \y, U
.endm

/* Adds a word of the block and the carry in V, which becomes that of the sum. */
.macro add_with_carry h, word
    add     \h, \h, \word
    sltu    U, \h, \word
    add     \h, \h, V
    sltu    V, \h, V
    or      V, V, U
.endm

/* void poly1305_blocks(uint32_t h[5], const uint32_t r[4], const uint8_t *data, size_t blocks,
                        uint32_t top)

   For at least one block. */
    .section .text.poly1305_blocks, "ax", %progbits
    .global poly1305_blocks
    .type   poly1305_blocks, %function
    .balign 4
poly1305_blocks:
    addi    sp, sp, -32
    save    0, SAVED
    lw      R0, 0(a1)
    lw      R1, 4(a1)
    lw      R2, 8(a1)
    lw      R3, 12(a1)
    mv      DATA, a2
    slli    a3, a3, 4
    add     END, DATA, a3
    mv      TOP, a4
    srli    T1, R1, 2
    srli    T2, R2, 2
    srli    T3, R3, 2
    add     T1, T1, R1
    add     T2, T2, R2
    add     T3, T3, R3
    lw      H0, 0(H)
    lw      H1, 4(H)
    lw      H2, 8(H)
    lw      H3, 12(H)
    lw      H4, 16(H)
    .balign 4
1:
    andi    U, DATA, 3
    bnez    U, 3f
    lw      C0, 0(DATA)
    lw      C1, 4(DATA)
    lw      C2, 8(DATA)
    lw      C3, 12(DATA)
2:
    addi    DATA, DATA, 16
    add     H0, H0, C0
    sltu    V, H0, C0
    add_with_carry H1, C1
    add_with_carry H2, C2
    add_with_carry H3, C3
    add     H4, H4, TOP
    add     H4, H4, V
    mul     C0, H0, R0
    mulhu   C1, H0, R0
    add_product C0, C1, H1, T3
    add_product C0, C1, H2, T2
    add_product C0, C1, H3, T1
    first_product C1, C2, H0, R1
    add_product C1, C2, H1, R0
    add_product C1, C2, H2, T3
    add_product C1, C2, H3, T2
    add_word C1, C2, H4, T1
    first_product C2, C3, H0, R2
    add_product C2, C3, H1, R1
    add_product C2, C3, H2, R0
    add_product C2, C3, H3, T3
    add_word C2, C3, H4, T2
    first_product C3, C4, H0, R3
    add_product C3, C4, H1, R2
    add_product C3, C4, H2, R1
    add_product C3, C4, H3, R0
    add_word C3, C4, H4, T3
    mul     U, H4, R0
    add     C4, C4, U
    /* What is above 2^130 counts five times. */
    srli    U, C4, 2
    andi    H4, C4, 3
    sh2add  U, U, U
    add     H0, C0, U
    sltu    U, H0, U
    add     H1, C1, U
    sltu    U, H1, U
    add     H2, C2, U
    sltu    U, H2, U
    add     H3, C3, U
    sltu    U, H3, U
    add     H4, H4, U
    bltu    DATA, END, 1b
    sw      H0, 0(H)
    sw      H1, 4(H)
    sw      H2, 8(H)
    sw      H3, 12(H)
    sw      H4, 16(H)
    restore 0, SAVED
    addi    sp, sp, 32
    clear   a4, a5, a6, a7, t0, t1, t2, t3, t4, t5, t6
    ret

/* At any address. */
3:
    gather_word C0, 0, DATA, U, V
    gather_word C1, 4, DATA, U, V
    gather_word C2, 8, DATA, U, V
    gather_word C3, 12, DATA, U, V
    j       2b
    .size   poly1305_blocks, . - poly1305_blocks
