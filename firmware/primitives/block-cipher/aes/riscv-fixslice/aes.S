/* AES on two blocks at a time. Plane i, in Pi, holds bit i of all 32 bytes; its bit 8 r + 2 c + b
   belongs to the byte in row r and column c of block b.

   ShiftRows is omitted. After k omissions, the planes hold at (r, c + k r) the byte that belongs at
   (r, c). SubBytes is not affected; MixColumns finds the byte below at (r + 1, c + k) instead of (r
   + 1, c); round keys are stored permuted for their round, and the last round's output is put in
   order when it is stored. Only k modulo 4 matters.

   The registers hold all that the S-boxes need: memory has round keys, blocks and what the caller
   preserves, nothing else. */

#include "riscv.inc"

#define AES_ROUNDS (AES_KEY_BITS / 32 + 6)

#define P0 a0
#define P1 a1
#define P2 a2
#define P3 a3
#define P4 a4
#define P5 a5
#define P6 a6
#define P7 a7
#define NIBBLES s11 /* 0x0f0f0f0f */
#define KEY ra      /* of the round before the next four */

/* The frame, below the saved registers. */
#define FIRST 0(sp) /* where KEY is in the first rounds */
#define OUT 4(sp)
#define IN 8(sp)
#define BLOCKS 12(sp)
#define LAST 16(sp) /* where KEY is in the last rounds */
#define FRAME 80

/* SubBytes without the constant 0x63, which is folded into the round keys: the circuit of 113 gates
   published by the Circuit Minimization Team at Yale (Boyar, Peralta, Calik), with its names. */
.macro sub_bytes
    xor     t4, a6, a5      /* t0 */
    xor     s2, a7, a1      /* y13 */
    xor     t2, a4, a2      /* y14 */
    xor     t3, t4, a0      /* y1 */
    xor     t1, s2, t2      /* y12 */
    xor     s7, a3, t1      /* t1 */
    xor     s9, s7, a2      /* y15 */
    xor     t6, t3, a1      /* y5 */
    xor     t5, s7, a6      /* y20 */
    xor     s8, s9, a0      /* y6 */
    and     s4, t1, s9      /* t2 */
    xor     s6, a7, a2      /* y8 */
    xor     s10, t6, s6     /* y3 */
    and     s3, s10, s8     /* t3 */
    xor     s5, t3, a4      /* y4 */
    xor     s7, s3, s4      /* t4 */
    xor     t0, s7, t5      /* t17 */
    xor     s7, s9, t4      /* y10 */
    and     s3, s5, a0      /* t5 */
    xor     a5, a7, a4      /* y9 */
    xor     t5, t5, a5      /* y11 */
    xor     t4, t4, t5      /* y16 */
    xor     s1, a0, t5      /* y7 */
    xor     s4, s3, s4      /* t6 */
    xor     s3, s7, t5      /* y17 */
    and     s0, t2, s3      /* t13 */
    and     a6, s6, s7      /* t15 */
    and     a2, a5, t5      /* t12 */
    xor     s0, s0, a2      /* t14 */
    xor     a4, a6, a2      /* t16 */
    xor     a6, t3, a7      /* y2 */
    xor     a7, a7, t4      /* y18 */
    and     a2, a6, s1      /* t10 */
    xor     s4, s4, a4      /* t18 */
    and     a3, s2, t4      /* t7 */
    xor     a1, a2, a3      /* t11 */
    xor     a4, a1, a4      /* t20 */
    and     a2, t6, t3      /* t8 */
    xor     a7, a4, a7      /* t24 */
    xor     a1, s7, s6      /* y19 */
    xor     s4, s4, a1      /* t22 */
    xor     t0, t0, s0      /* t21 */
    xor     a4, t0, s4      /* t25 */
    xor     a1, a2, a3      /* t9 */
    xor     s0, a1, s0      /* t19 */
    xor     a2, s2, t4      /* y21 */
    xor     s0, s0, a2      /* t23 */
    and     t0, t0, s0      /* t26 */
    xor     a1, s4, t0      /* t31 */
    xor     a3, s0, a7      /* t30 */
    xor     t0, a7, t0      /* t27 */
    and     a1, a1, a3      /* t32 */
    and     a3, a4, t0      /* t28 */
    xor     a1, a1, a7      /* t33 */
    xor     s0, s0, a1      /* t34 */
    xor     s4, a3, s4      /* t29 */
    xor     a2, t0, a1      /* t35 */
    and     a3, a7, a2      /* t36 */
    and     a0, a1, a0      /* z2 */
    xor     t0, t0, a3      /* t38 */
    xor     s0, a3, s0      /* t37 */
    and     t0, s4, t0      /* t39 */
    and     s1, s4, s1      /* z5 */
    and     s10, s0, s10    /* z10 */
    xor     t0, a4, t0      /* t40 */
    and     t3, t0, t3      /* z4 */
    xor     a2, s4, t0      /* t43 */
    and     a7, a2, t4      /* z3 */
    and     t4, t0, t6      /* z13 */
    and     t6, a2, s2      /* z12 */
    xor     s1, a7, s1      /* tc12 */
    xor     s2, a1, s0      /* t44 */
    xor     t3, a7, t3      /* tc6 */
    and     s8, s0, s8      /* z1 */
    xor     t0, t0, s0      /* t41 */
    and     s0, s2, s9      /* z0 */
    xor     s9, s0, a0      /* tc4 */
    xor     s1, s9, s1      /* tc14 */
    xor     s8, s8, s0      /* tc5 */
    xor     s0, t3, s8      /* tc11 */
    xor     s8, t6, s9      /* tc7 */
    and     s7, t0, s7      /* z8 */
    xor     s9, s7, s8      /* tc9 */
    xor     s7, s4, a1      /* t42 */
    and     s8, a1, s5      /* z11 */
    xor     s5, s7, t0      /* t45 */
    and     s6, t0, s6      /* z17 */
    and     t0, s5, s3      /* z7 */
    xor     t0, t0, t3      /* tc8 */
    and     s5, s5, t2      /* z16 */
    and     t2, s7, a5      /* z15 */
    xor     a3, t2, s5      /* tc1 */
    xor     t3, t0, s9      /* tc10 */
    xor     s5, t4, a3      /* tc13 */
    xor     s9, s10, a3     /* tc2 */
    and     a3, s7, t5      /* z6 */
    xor     s7, s5, s1      /* tc18 */
    xor     a1, t3, s7      /* s6 */
    xor     a0, t6, s7      /* s7 */
    and     t5, s2, t1      /* z9 */
    xor     s7, a3, t0      /* tc16 */
    xor     t4, t5, s9      /* tc3 */
    xor     a4, t4, s0      /* s3 */
    xor     a3, s1, a4      /* s4 */
    xor     a7, t4, s7      /* s0 */
    and     s2, s4, a6      /* z14 */
    xor     t1, t2, s7      /* tc20 */
    xor     t6, s2, t3      /* tc17 */
    xor     a6, a4, s7      /* s1 */
    xor     s2, s9, s8      /* tc21 */
    xor     a2, s2, t6      /* s5 */
    xor     s9, t6, t1      /* tc26 */
    xor     a5, s9, s6      /* s2 */
.endm

/* The inverse of the affine map's linear part (p to u), the circuit, and the inverse again. */
.macro inverse_sub_bytes
    xor     s10, a4, a7     /* q4 */
    xor     t5, a0, a3      /* q0 */
    xor     t6, a6, a1      /* q6 */
    xor     t2, t5, a5      /* u1 */
    xor     s7, t5, a6      /* u6 */
    xor     t1, t6, a3      /* u3 */
    xor     t5, s10, a1     /* u5 */
    xor     t4, t1, t5      /* y14 */
    xor     t6, t6, a4      /* u0 */
    xor     t0, a2, a5      /* q2 */
    xor     s4, s10, a2     /* u2 */
    xor     a0, t0, a0      /* u4 */
    xor     s0, t6, s7      /* y13 */
    xor     s8, t6, t5      /* y8 */
    xor     s9, t0, a7      /* u7 */
    xor     s3, s0, t4      /* y12 */
    xor     t3, t2, s4      /* t0 */
    xor     s2, a0, s3      /* t1 */
    xor     s10, t3, s9     /* y1 */
    xor     s5, s2, t5      /* y15 */
    xor     s6, s2, t2      /* y20 */
    xor     t0, s10, s7     /* y5 */
    xor     s1, t0, s8      /* y3 */
    xor     s7, s5, s9      /* y6 */
    and     t2, s1, s7      /* t3 */
    and     t5, s3, s5      /* t2 */
    xor     s4, t2, t5      /* t4 */
    xor     t2, s4, s6      /* t17 */
    xor     s4, s10, t1     /* y4 */
    and     s2, t0, s10     /* t8 */
    and     a6, s4, s9      /* t5 */
    xor     t5, a6, t5      /* t6 */
    xor     t1, t6, t1      /* y9 */
    xor     s6, s6, t1      /* y11 */
    and     a5, t1, s6      /* t12 */
    xor     a4, s5, t3      /* y10 */
    and     a7, s8, a4      /* t15 */
    xor     a2, a4, s8      /* y19 */
    xor     a0, a4, s6      /* y17 */
    xor     a7, a7, a5      /* t16 */
    and     a6, t4, a0      /* t13 */
    xor     t3, t3, s6      /* y16 */
    xor     a6, a6, a5      /* t14 */
    xor     t5, t5, a7      /* t18 */
    xor     t5, t5, a2      /* t22 */
    xor     a5, s0, t3      /* y21 */
    and     a3, s0, t3      /* t7 */
    xor     s2, s2, a3      /* t9 */
    xor     a1, s9, s6      /* y7 */
    xor     s2, s2, a6      /* t19 */
    xor     t2, t2, a6      /* t21 */
    xor     a6, t6, t3      /* y18 */
    xor     s2, s2, a5      /* t23 */
    xor     t6, s10, t6     /* y2 */
    and     a5, t6, a1      /* t10 */
    xor     a5, a5, a3      /* t11 */
    xor     a3, a5, a7      /* t20 */
    and     a7, t2, s2      /* t26 */
    xor     a2, t5, a7      /* t31 */
    xor     a5, a3, a6      /* t24 */
    xor     a3, a5, a7      /* t27 */
    xor     a7, s2, a5      /* t30 */
    and     a6, a2, a7      /* t32 */
    xor     t2, t2, t5      /* t25 */
    and     a7, t2, a3      /* t28 */
    xor     t5, a7, t5      /* t29 */
    xor     a6, a6, a5      /* t33 */
    xor     a7, a3, a6      /* t35 */
    xor     s2, s2, a6      /* t34 */
    and     a5, a5, a7      /* t36 */
    xor     a7, a3, a5      /* t38 */
    and     a2, t5, t6      /* z14 */
    and     t6, t5, a7      /* t39 */
    and     s9, a6, s9      /* z2 */
    xor     a3, a5, s2      /* t37 */
    xor     a5, a6, a3      /* t44 */
    xor     t2, t2, t6      /* t40 */
    and     s2, a5, s3      /* z9 */
    and     s3, a5, s5      /* z0 */
    xor     s5, s3, s9      /* tc4 */
    and     s9, a3, s7      /* z1 */
    xor     s7, t5, a6      /* t42 */
    and     t6, t2, s10     /* z4 */
    and     s10, t5, a1     /* z5 */
    xor     s3, s9, s3      /* tc5 */
    and     s9, t2, t0      /* z13 */
    xor     t0, t5, t2      /* t43 */
    and     t5, t0, t3      /* z3 */
    xor     s10, t5, s10    /* tc12 */
    and     t0, t0, s0      /* z12 */
    and     s0, a3, s1      /* z10 */
    xor     t2, t2, a3      /* t41 */
    xor     s1, s7, t2      /* t45 */
    and     t4, s1, t4      /* z16 */
    xor     t3, t5, t6      /* tc6 */
    and     t6, s1, a0      /* z7 */
    and     t5, s7, t1      /* z15 */
    xor     t1, s5, s10     /* tc14 */
    xor     s10, t0, s5     /* tc7 */
    xor     s3, t3, s3      /* tc11 */
    xor     s5, t5, t4      /* tc1 */
    xor     a7, t6, t3      /* tc8 */
    xor     s9, s9, s5      /* tc13 */
    xor     s5, s0, s5      /* tc2 */
    and     a1, s7, s6      /* z6 */
    xor     s6, a1, a7      /* tc16 */
    and     t3, t2, a4      /* z8 */
    xor     s1, t3, s10     /* tc9 */
    xor     a0, a7, s1      /* tc10 */
    xor     s2, s2, s5      /* tc3 */
    xor     t6, t5, s6      /* tc20 */
    xor     s0, s9, t1      /* tc18 */
    xor     s7, a0, s0      /* s6 */
    xor     t3, s2, s3      /* s3 */
    xor     t4, t0, s0      /* s7 */
    xor     t5, t1, t3      /* s4 */
    xor     s9, s2, s6      /* s0 */
    xor     s3, a2, a0      /* tc17 */
    xor     s10, t4, t5     /* w0 */
    xor     t0, t3, s9      /* w4 */
    xor     s0, t3, s6      /* s1 */
    and     s6, t2, s8      /* z17 */
    and     t1, a6, s4      /* z11 */
    xor     s4, s5, t1      /* tc21 */
    xor     s5, s0, s7      /* w6 */
    xor     s8, s4, s3      /* s5 */
    xor     a2, t0, s7      /* o2 */
    xor     t1, s3, t6      /* tc26 */
    xor     t6, t1, s6      /* s2 */
    xor     s4, s8, t6      /* w2 */
    xor     a0, s4, s9      /* o0 */
    xor     a3, s4, t4      /* o3 */
    xor     a4, s5, t5      /* o4 */
    xor     a6, s10, t6     /* o6 */
    xor     a7, s5, t3      /* o7 */
    xor     a1, s10, s0     /* o1 */
    xor     a5, t0, s8      /* o5 */
.endm

/* Swaps (x >> n) & mask with y & mask. */
.macro swap_bits x, y, n, mask
    srli    t0, \x, \n
    xor     t0, t0, \y
    and     t0, t0, \mask
    xor     \y, \y, t0
    slli    t0, t0, \n
    xor     \x, \x, t0
.endm

/* Converts the words of columns, P(2 c + b), to planes or back: transposes the 8 x 8 bits in each
   byte position. */
.macro transpose
    li      t1, 0x55555555
    swap_bits P0, P1, 1, t1
    swap_bits P2, P3, 1, t1
    swap_bits P4, P5, 1, t1
    swap_bits P6, P7, 1, t1
    li      t1, 0x33333333
    swap_bits P0, P2, 2, t1
    swap_bits P1, P3, 2, t1
    swap_bits P4, P6, 2, t1
    swap_bits P5, P7, 2, t1
    swap_bits P0, P4, 4, NIBBLES
    swap_bits P1, P5, 4, NIBBLES
    swap_bits P2, P6, 4, NIBBLES
    swap_bits P3, P7, 4, NIBBLES
.endm

/* Adds the key of `round` after the one that KEY points to. */
.macro add_round_key round
    lw      t0, 32 * (\round)(KEY)
    lw      t1, 32 * (\round) + 4(KEY)
    lw      t2, 32 * (\round) + 8(KEY)
    lw      t3, 32 * (\round) + 12(KEY)
    xor     P0, P0, t0
    xor     P1, P1, t1
    xor     P2, P2, t2
    xor     P3, P3, t3
    lw      t0, 32 * (\round) + 16(KEY)
    lw      t1, 32 * (\round) + 20(KEY)
    lw      t2, 32 * (\round) + 24(KEY)
    lw      t3, 32 * (\round) + 28(KEY)
    xor     P4, P4, t0
    xor     P5, P5, t1
    xor     P6, P6, t2
    xor     P7, P7, t3
.endm

/* MixColumns: with B the byte below and t = a ^ B, the result is 2 t ^ B ^ t two rows below.
   Doubling takes each bit from the plane below; t7 also goes to planes 0, 1, 3 and 4 (x^8 = x^4 +
   x^3 + x + 1). */

/* B and t of \p: columns are rotated by k within each byte; t6 is the mask of those that come from
   its other end. */
.macro below_and_t k, p, b, t
    .if     \k == 0
    rori    \b, \p, 8
    .else
    and     \b, \p, t6
    xor     \t, \p, \b
    rori    \t, \t, 8
    xor     \b, \b, \t
    rori    \b, \b, 2 * \k
    .endif
    xor     \t, \p, \b
.endm

/* Adds t two rows below, which rotates columns by 2 k, that is, 0 or 2; t is lost. */
.macro add_two_below k, p, t
    .if     \k % 2 == 0
    rori    \t, \t, 16
    xor     \p, \p, \t
    .else
    and     s0, \t, NIBBLES
    xor     \t, \t, s0
    rori    s0, s0, 12
    rori    \t, \t, 20
    xor     \p, \p, s0
    xor     \p, \p, \t
    .endif
.endm

/* \b and \t are those of \p; this computes \b_below and \t_below of the plane below. */
.macro mix_plane k, p, below, b, t, b_below, t_below
    below_and_t \k, \below, \b_below, \t_below
    xor     \p, \t_below, \b
    add_two_below \k, \p, \t
.endm

.macro mix_columns k
    .if     \k == 2
    mv      t6, NIBBLES
    .elseif \k != 0
    li      t6, 0x01010101 * ((1 << (2 * \k)) - 1)
    .endif
    below_and_t \k, P7, t1, t2
    mv      t0, t2
    mix_plane \k, P7, P6, t1, t2, t3, t4
    mix_plane \k, P6, P5, t3, t4, t1, t2
    mix_plane \k, P5, P4, t1, t2, t3, t4
    mix_plane \k, P4, P3, t3, t4, t1, t2
    xor     P4, P4, t0
    mix_plane \k, P3, P2, t1, t2, t3, t4
    xor     P3, P3, t0
    mix_plane \k, P2, P1, t3, t4, t1, t2
    mix_plane \k, P1, P0, t1, t2, t3, t4
    xor     P1, P1, t0
    xor     P0, t0, t3
    add_two_below \k, P0, t4
.endm

/* a ^ a two rows below, with columns rotated by 2 k. */
.macro with_two_below k, u, p
    .if     \k % 2 == 0
    rori    \u, \p, 16
    xor     \u, \u, \p
    .else
    and     \u, \p, NIBBLES
    xor     t4, \p, \u
    rori    \u, \u, 12
    rori    t4, t4, 20
    xor     \u, \u, \p
    xor     \u, \u, t4
    .endif
.endm

/* The inverse matrix is the matrix times circ(5, 0, 4, 0) (Daemen and Rijmen, The Design of
   Rijndael, section 4.1.3), so first add 4 u, where u = a ^ a two rows below. */
.macro inverse_mix_columns k
    with_two_below \k, t0, P7
    with_two_below \k, t1, P6
    xor     t3, t0, t1
    with_two_below \k, t2, P5
    xor     P7, P7, t2
    with_two_below \k, t2, P4
    xor     P6, P6, t2
    with_two_below \k, t2, P3
    xor     P5, P5, t0
    xor     P5, P5, t2
    with_two_below \k, t2, P2
    xor     P4, P4, t3
    xor     P4, P4, t2
    with_two_below \k, t2, P1
    xor     P3, P3, t1
    xor     P3, P3, t2
    with_two_below \k, t2, P0
    xor     P2, P2, t0
    xor     P2, P2, t2
    xor     P1, P1, t3
    xor     P0, P0, t1
    mix_columns \k
.endm

/* Where the two blocks at \place are, or one block twice, in t0 and t1; \place moves on. */
.macro pair place
    lw      t0, \place
    lw      t2, BLOCKS
    addi    t3, t0, 32
    sltiu   t2, t2, 2
    xori    t2, t2, 1
    slli    t2, t2, 4
    add     t1, t0, t2
    andi    t2, t0, 3
    sw      t3, \place
.endm

.macro load_blocks
    pair    IN
    bnez    t2, 7b
    lw      P0, 0(t0)
    lw      P2, 4(t0)
    lw      P4, 8(t0)
    lw      P6, 12(t0)
    lw      P1, 0(t1)
    lw      P3, 4(t1)
    lw      P5, 8(t1)
    lw      P7, 12(t1)
.endm

.macro gather_blocks
    gather_word P0, 0, t0, t4, t5
    gather_word P2, 4, t0, t4, t5
    gather_word P4, 8, t0, t4, t5
    gather_word P6, 12, t0, t4, t5
    gather_word P1, 0, t1, t4, t5
    gather_word P3, 4, t1, t4, t5
    gather_word P5, 8, t1, t4, t5
    gather_word P7, 12, t1, t4, t5
.endm

.macro store_blocks
    pair    OUT
    bnez    t2, 8f
    sw      P0, 0(t0)
    sw      P2, 4(t0)
    sw      P4, 8(t0)
    sw      P6, 12(t0)
    sw      P1, 0(t1)
    sw      P3, 4(t1)
    sw      P5, 8(t1)
    sw      P7, 12(t1)
.endm

.macro scatter_blocks
    scatter_word P0, 0, t0
    scatter_word P2, 4, t0
    scatter_word P4, 8, t0
    scatter_word P6, 12, t0
    scatter_word P1, 0, t1
    scatter_word P3, 4, t1
    scatter_word P5, 8, t1
    scatter_word P7, 12, t1
.endm

/* Goes back to \to if blocks are left. */
.macro next_blocks to
    lw      t0, BLOCKS
    addi    t0, t0, -2
    sw      t0, BLOCKS
    blez    t0, 10f
    j       \to
10:
.endm

/* Swaps the bits of the mask in t1. */
.macro swap_masked x, y
    xor     t0, \x, \y
    and     t0, t0, t1
    xor     \x, \x, t0
    xor     \y, \y, t0
.endm

/* Reorders words for the omitted ShiftRows, or back. Where these add up to two rotations, rows 1
   and 3 of columns c and c + 2 are swapped. */
.macro restore_rows
    .if     AES_ROUNDS % 4 == 2
    li      t1, 0xff00ff00
    swap_masked P0, P4
    swap_masked P1, P5
    swap_masked P2, P6
    swap_masked P3, P7
    .endif
.endm

#define SAVED s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, ra

.macro enter_function
    addi    sp, sp, -FRAME
    save    28, SAVED
.endm

.macro leave_function
    restore 28, SAVED
    addi    sp, sp, FRAME
    clear   a0, a1, a2, a3, a4, a5, a6, a7, t0, t1, t2, t3, t4, t5, t6
    ret
.endm

/* \first and \last are distances of KEY from the context. */
.macro enter first, last
    beqz    a3, 9f
    enter_function
    sw      a1, OUT
    sw      a2, IN
    sw      a3, BLOCKS
    addi    t0, a0, \first
    addi    t1, a0, \last
    sw      t0, FIRST
    sw      t1, LAST
    li      NIBBLES, 0x0f0f0f0f
.endm

.macro leave_if_last to
    lw      t0, LAST
    beq     KEY, t0, \to
.endm

/* void aes_encrypt(const aes_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) */
    .section .text.aes_encrypt, "ax", %progbits
    .global aes_encrypt
    .type   aes_encrypt, %function
    .balign 4
7:
    gather_blocks
    j       11f
    .balign 4
aes_encrypt:
    enter   0, 32 * ((AES_ROUNDS - 1) & ~3)
    .balign 4
1:
    lw      KEY, FIRST
    load_blocks
11:
    transpose
    add_round_key 0
    .balign 4
2:
    sub_bytes
    mix_columns 1
    add_round_key 1
    sub_bytes
    .if     AES_ROUNDS % 4 == 2
    leave_if_last 3f
    .endif
    mix_columns 2
    add_round_key 2
    sub_bytes
    mix_columns 3
    add_round_key 3
    sub_bytes
    .if     AES_ROUNDS % 4 == 0
    leave_if_last 3f
    .endif
    mix_columns 0
    add_round_key 4
    addi    KEY, KEY, 128
    j       2b
3:
    add_round_key (((AES_ROUNDS - 1) & 3) + 1)
    transpose
    restore_rows
    store_blocks
12:
    next_blocks 1b
    leave_function
8:
    scatter_blocks
    j       12b
9:
    ret
    .size   aes_encrypt, . - aes_encrypt

/* void aes_decrypt(const aes_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) */
    .section .text.aes_decrypt, "ax", %progbits
    .global aes_decrypt
    .type   aes_decrypt, %function
    .balign 4
7:
    gather_blocks
    j       11f
    .balign 4
aes_decrypt:
    enter   32 * ((AES_ROUNDS - 1) & ~3), -128
    .balign 4
1:
    lw      KEY, FIRST
    load_blocks
11:
    restore_rows
    transpose
    add_round_key (((AES_ROUNDS - 1) & 3) + 1)
    .if     AES_ROUNDS % 4 == 2
    j       5f
    .else
    j       3f
    .endif
    .balign 4
2:
    inverse_sub_bytes
    leave_if_last 6f
    add_round_key 4
    inverse_mix_columns 0
3:
    inverse_sub_bytes
    add_round_key 3
    inverse_mix_columns 3
    inverse_sub_bytes
    add_round_key 2
    inverse_mix_columns 2
5:
    inverse_sub_bytes
    add_round_key 1
    addi    KEY, KEY, -128
    inverse_mix_columns 1
    j       2b
6:
    add_round_key 4
    transpose
    store_blocks
12:
    next_blocks 1b
    leave_function
8:
    scatter_blocks
    j       12b
9:
    ret
    .size   aes_decrypt, . - aes_decrypt

/* Key expansion. */
#define KEY_WORDS (AES_KEY_BITS / 32)
#define SCHEDULE_WORDS (4 * (AES_ROUNDS + 1))
/* As much as whole groups of KEY_WORDS take. */
#define SCHEDULE_BYTES (4 * (SCHEDULE_WORDS + KEY_WORDS))
#define WORDS ra /* KEY_WORDS words before the next ones */
#define RCON s11
#define CONTEXT (SCHEDULE_BYTES)(sp)

/* SubWord of t0 (FIPS 197, 5.2) without its constant, in the lowest bit of the planes' bytes. */
.macro sub_word
    li      t1, 0x01010101
    .set    bit, 0
    .irp    plane, P0, P1, P2, P3, P4, P5, P6, P7
    srli    \plane, t0, bit
    and     \plane, \plane, t1
    .set    bit, bit + 1
    .endr
    sub_bytes
    mv      t0, P0
    .set    bit, 1
    .irp    plane, P1, P2, P3, P4, P5, P6, P7
    slli    \plane, \plane, bit
    or      t0, t0, \plane
    .set    bit, bit + 1
    .endr
.endm

/* A word of the schedule from t0, the one before it, and that KEY_WORDS before it. */
.macro next_word number
    lw      t1, 4 * \number(WORDS)
    xor     t0, t0, t1
    sw      t0, 4 * (\number + KEY_WORDS)(WORDS)
.endm

/* Rows 1 and 3 from their columns, the rest from its own; masks are in t2 to t4. */
.macro join_rows to, own, one, three
    and     \to, \own, t2
    and     t5, \one, t3
    and     t6, \three, t4
    or      \to, \to, t5
    or      \to, \to, t6
.endm

/* The planes of a round key, the same for both blocks, permuted for k omitted ShiftRows: row r is
   k r columns further on. Then the constant of SubBytes, which MixColumns leaves unchanged. */
.macro round_key k, is_first=0
    lw      s0, 0(WORDS)
    lw      s1, 4(WORDS)
    lw      s2, 8(WORDS)
    lw      s3, 12(WORDS)
    addi    WORDS, WORDS, 16
    .if     \k % 2
    li      t1, 0x00ff0000
    swap_masked s0, s2
    swap_masked s1, s3
    li      t2, 0x00ff00ff
    li      t3, 0x0000ff00
    li      t4, 0xff000000
    .if     \k == 1
    join_rows P0, s0, s3, s1
    join_rows P2, s1, s0, s2
    join_rows P4, s2, s1, s3
    join_rows P6, s3, s2, s0
    .else
    join_rows P0, s0, s1, s3
    join_rows P2, s1, s2, s0
    join_rows P4, s2, s3, s1
    join_rows P6, s3, s0, s2
    .endif
    .else
    .if     \k == 2
    li      t1, 0xff00ff00
    swap_masked s0, s2
    swap_masked s1, s3
    .endif
    mv      P0, s0
    mv      P2, s1
    mv      P4, s2
    mv      P6, s3
    .endif
    mv      P1, P0
    mv      P3, P2
    mv      P5, P4
    mv      P7, P6
    transpose
    .if     !\is_first
    not     P0, P0
    not     P1, P1
    not     P5, P5
    not     P6, P6
    .endif
    .set    place, 0
    .irp    plane, P0, P1, P2, P3, P4, P5, P6, P7
    sw      \plane, place(s10)
    .set    place, place + 4
    .endr
    addi    s10, s10, 32
.endm

/* void aes_init(aes_ctx *ctx, const uint8_t *key) */
    .section .text.aes_init, "ax", %progbits
    .global aes_init
    .type   aes_init, %function
    .balign 4
aes_init:
    enter_function
    addi    sp, sp, -SCHEDULE_BYTES
    sw      a0, CONTEXT
    .set    place, 0
    .rept   KEY_WORDS
    gather_word t0, place, a1, t4, t5
    sw      t0, place(sp)
    .set    place, place + 4
    .endr
    mv      WORDS, sp
    li      RCON, 1
    .balign 4
1:
    lw      t0, 4 * (KEY_WORDS - 1)(WORDS)
    rori    t0, t0, 8
    sub_word
    li      t1, 0x63636363
    xor     t0, t0, RCON
    xor     t0, t0, t1
    slli    RCON, RCON, 1
    srli    t2, RCON, 8
    li      t3, 0x11b
    mul     t2, t2, t3
    xor     RCON, RCON, t2
    next_word 0
    next_word 1
    next_word 2
    next_word 3
    .if     KEY_WORDS == 6
    next_word 4
    next_word 5
    .elseif KEY_WORDS == 8
    addi    t1, sp, 4 * (SCHEDULE_WORDS - 12)
    beq     WORDS, t1, 2f
    sub_word
    li      t1, 0x63636363
    xor     t0, t0, t1
    next_word 4
    next_word 5
    next_word 6
    next_word 7
    .endif
    addi    WORDS, WORDS, 4 * KEY_WORDS
    addi    t1, sp, 4 * ((SCHEDULE_WORDS - 1) / KEY_WORDS * KEY_WORDS)
    bgeu    WORDS, t1, 2f
    j       1b
2:
    lw      s10, CONTEXT
    mv      WORDS, sp
    li      NIBBLES, 0x0f0f0f0f
    round_key 0, 1
    .balign 4
3:
    round_key 1
    round_key 2
    .if     AES_ROUNDS % 4 == 2
    addi    t0, sp, 4 * SCHEDULE_WORDS
    beq     WORDS, t0, 4f
    .endif
    round_key 3
    round_key 0
    .if     AES_ROUNDS % 4 == 0
    addi    t0, sp, 4 * SCHEDULE_WORDS
    beq     WORDS, t0, 4f
    .endif
    j       3b
4:
    .set    place, 0
    .rept   SCHEDULE_BYTES / 4
    sw      zero, place(sp)
    .set    place, place + 4
    .endr
    addi    sp, sp, SCHEDULE_BYTES
    leave_function
    .size   aes_init, . - aes_init
