/* AES on two blocks at a time. Plane i, in Pi, holds bit i of all 32 bytes; its bit 8 r + 2 c + b
   belongs to the byte in row r and column c of block b.

   ShiftRows is omitted. After k omissions, the planes hold at (r, c + k r) the byte that belongs at
   (r, c). SubBytes is not affected; MixColumns finds the byte below at (r + 1, c + k) instead of (r
   + 1, c); round keys are stored permuted for their round, and the last round's output is put in
   order when it is stored. Only k modulo 4 matters.

   The rounds use 32-bit instructions, because a Cortex-M3 loses cycles on loads among unaligned
   ones. Loads are grouped, because one that follows another takes one cycle instead of two. */
    .syntax unified
    .thumb

#define AES_ROUNDS (AES_KEY_BITS / 32 + 6)

#define P0 r0
#define P1 r1
#define P2 r2
#define P3 r3
#define P4 r4
#define P5 r5
#define P6 r6
#define P7 r7

/* The frame, above the 11 words that the S-boxes use. */
#define KEY [sp, #44] /* of the round before the next four */
#define CTX [sp, #48]
#define IN [sp, #52]
#define OUT [sp, #56]
#define BLOCKS [sp, #60]
#define FRAME 68 /* a multiple of 8 with the registers */

/* SubBytes without the constant 0x63, which is folded into the round keys: the circuit of 113 gates
   published by the Circuit Minimization Team at Yale (Boyar, Peralta, Calik), with its names. Order
   and registers were found by a search for the fewest loads and stores: 10 of each. */
.macro sub_bytes
    str.w   r0, [sp, #0]    /* x7 */
    eor     lr, r6, r5      /* t0 */
    eor     r9, r7, r1      /* y13 */
    eor     r12, r4, r2     /* y14 */
    str.w   r12, [sp, #4]   /* y14 */
    eor     r10, lr, r0     /* y1 */
    eor     r8, r9, r12     /* y12 */
    str.w   r8, [sp, #8]    /* y12 */
    eor     r11, r3, r8     /* t1 */
    eor     r3, r11, r2     /* y15 */
    str.w   r3, [sp, #12]   /* y15 */
    eor     r1, r10, r1     /* y5 */
    eor     r11, r11, r6    /* y20 */
    eor     r6, r3, r0      /* y6 */
    str.w   r6, [sp, #16]   /* y6 */
    and     r8, r8, r3      /* t2 */
    eor     r2, r7, r2      /* y8 */
    eor     r5, r1, r2      /* y3 */
    and     r5, r5, r6      /* t3 */
    eor     r6, r10, r4     /* y4 */
    str.w   r6, [sp, #20]   /* y4 */
    eor     r5, r5, r8      /* t4 */
    eor     r5, r5, r11     /* t17 */
    eor     r3, r3, lr      /* y10 */
    and     r6, r6, r0      /* t5 */
    eor     r4, r7, r4      /* y9 */
    str.w   r4, [sp, #24]   /* y9 */
    eor     r11, r11, r4    /* y11 */
    str.w   r11, [sp, #28]  /* y11 */
    eor     lr, lr, r11     /* y16 */
    eor     r0, r0, r11     /* y7 */
    eor     r8, r6, r8      /* t6 */
    eor     r6, r3, r11     /* y17 */
    str.w   r6, [sp, #32]   /* y17 */
    and     r12, r12, r6    /* t13 */
    and     r6, r2, r3      /* t15 */
    and     r11, r4, r11    /* t12 */
    eor     r12, r12, r11   /* t14 */
    eor     r11, r6, r11    /* t16 */
    eor     r6, r10, r7     /* y2 */
    str.w   r6, [sp, #36]   /* y2 */
    eor     r7, r7, lr      /* y18 */
    and     r6, r6, r0      /* t10 */
    eor     r8, r8, r11     /* t18 */
    and     r4, r9, lr      /* t7 */
    eor     r6, r6, r4      /* t11 */
    eor     r11, r6, r11    /* t20 */
    and     r6, r1, r10     /* t8 */
    eor     r11, r11, r7    /* t24 */
    eor     r7, r3, r2      /* y19 */
    eor     r8, r8, r7      /* t22 */
    eor     r5, r5, r12     /* t21 */
    eor     r7, r5, r8      /* t25 */
    eor     r6, r6, r4      /* t9 */
    eor     r12, r6, r12    /* t19 */
    eor     r4, r9, lr      /* y21 */
    eor     r12, r12, r4    /* t23 */
    and     r4, r5, r12     /* t26 */
    eor     r5, r8, r4      /* t31 */
    eor     r6, r12, r11    /* t30 */
    eor     r4, r11, r4     /* t27 */
    and     r6, r5, r6      /* t32 */
    and     r5, r7, r4      /* t28 */
    eor     r6, r6, r11     /* t33 */
    eor     r12, r12, r6    /* t34 */
    eor     r8, r5, r8      /* t29 */
    eor     r5, r4, r6      /* t35 */
    and     r11, r11, r5    /* t36 */
    ldr.w   r5, [sp, #0]    /* x7 */
    and     r5, r6, r5      /* z2 */
    eor     r4, r4, r11     /* t38 */
    eor     r11, r11, r12   /* t37 */
    and     r12, r8, r4     /* t39 */
    and     r4, r8, r0      /* z5 */
    eor     r0, r1, r2      /* y3 */
    and     r0, r11, r0     /* z10 */
    eor     r12, r7, r12    /* t40 */
    and     r10, r12, r10   /* z4 */
    eor     r7, r8, r12     /* t43 */
    and     lr, r7, lr      /* z3 */
    and     r1, r12, r1     /* z13 */
    and     r9, r7, r9      /* z12 */
    eor     r7, lr, r4      /* tc12 */
    eor     r4, r6, r11     /* t44 */
    eor     lr, lr, r10     /* tc6 */
    ldr.w   r10, [sp, #16]  /* y6 */
    and     r10, r11, r10   /* z1 */
    eor     r12, r12, r11   /* t41 */
    ldr.w   r11, [sp, #12]  /* y15 */
    and     r11, r4, r11    /* z0 */
    eor     r5, r11, r5     /* tc4 */
    eor     r7, r5, r7      /* tc14 */
    eor     r11, r10, r11   /* tc5 */
    eor     r11, lr, r11    /* tc11 */
    eor     r5, r9, r5      /* tc7 */
    and     r10, r12, r3    /* z8 */
    eor     r10, r10, r5    /* tc9 */
    eor     r3, r8, r6      /* t42 */
    ldr.w   r5, [sp, #20]   /* y4 */
    and     r5, r6, r5      /* z11 */
    eor     r6, r3, r12     /* t45 */
    and     r12, r12, r2    /* z17 */
    ldr.w   r2, [sp, #32]   /* y17 */
    and     r2, r6, r2      /* z7 */
    eor     lr, r2, lr      /* tc8 */
    ldr.w   r2, [sp, #4]    /* y14 */
    and     r2, r6, r2      /* z16 */
    ldr.w   r6, [sp, #24]   /* y9 */
    and     r6, r3, r6      /* z15 */
    eor     r2, r6, r2      /* tc1 */
    eor     r10, lr, r10    /* tc10 */
    eor     r1, r1, r2      /* tc13 */
    eor     r2, r0, r2      /* tc2 */
    ldr.w   r0, [sp, #28]   /* y11 */
    and     r3, r3, r0      /* z6 */
    eor     r0, r1, r7      /* tc18 */
    eor     r1, r10, r0     /* s6 */
    eor     r0, r9, r0      /* s7 */
    ldr.w   r9, [sp, #8]    /* y12 */
    and     r9, r4, r9      /* z9 */
    eor     lr, r3, lr      /* tc16 */
    eor     r9, r9, r2      /* tc3 */
    eor     r4, r9, r11     /* s3 */
    eor     r3, r7, r4      /* s4 */
    eor     r7, r9, lr      /* s0 */
    ldr.w   r11, [sp, #36]  /* y2 */
    and     r11, r8, r11    /* z14 */
    eor     r8, r6, lr      /* tc20 */
    eor     r11, r11, r10   /* tc17 */
    eor     r6, r4, lr      /* s1 */
    eor     lr, r2, r5      /* tc21 */
    eor     r2, lr, r11     /* s5 */
    eor     r8, r11, r8     /* tc26 */
    eor     r5, r8, r12     /* s2 */
.endm

/* Swaps (x >> n) & mask with y & mask. */
.macro swap_bits x, y, n, mask
    eor     r8, \y, \x, lsr #\n
    and     r8, r8, #\mask
    eor     \y, \y, r8
    eor     \x, \x, r8, lsl #\n
.endm

/* Converts the words of columns, P(2 c + b), to planes or back: transposes the 8 x 8 bits in each
   byte position. */
.macro transpose
    swap_bits P0, P1, 1, 0x55555555
    swap_bits P2, P3, 1, 0x55555555
    swap_bits P4, P5, 1, 0x55555555
    swap_bits P6, P7, 1, 0x55555555
    swap_bits P0, P2, 2, 0x33333333
    swap_bits P1, P3, 2, 0x33333333
    swap_bits P4, P6, 2, 0x33333333
    swap_bits P5, P7, 2, 0x33333333
    swap_bits P0, P4, 4, 0x0f0f0f0f
    swap_bits P1, P5, 4, 0x0f0f0f0f
    swap_bits P2, P6, 4, 0x0f0f0f0f
    swap_bits P3, P7, 4, 0x0f0f0f0f
.endm

/* Adds the key of `round` after the one that KEY points to; lr gets KEY. */
.macro add_round_key round
    ldr     lr, KEY
    ldr     r8, [lr, #32 * (\round)]
    ldr     r9, [lr, #32 * (\round) + 4]
    ldr     r10, [lr, #32 * (\round) + 8]
    ldr     r11, [lr, #32 * (\round) + 12]
    ldr     r12, [lr, #32 * (\round) + 16]
    eor     P0, P0, r8
    eor     P1, P1, r9
    eor     P2, P2, r10
    eor     P3, P3, r11
    eor     P4, P4, r12
    ldr     r8, [lr, #32 * (\round) + 20]
    ldr     r9, [lr, #32 * (\round) + 24]
    ldr     r10, [lr, #32 * (\round) + 28]
    eor     P5, P5, r8
    eor     P6, P6, r9
    eor     P7, P7, r10
.endm

/* MixColumns: with B the byte below and t = a ^ B, the result is 2 t ^ B ^ t two rows below.
   Doubling takes each bit from the plane below; t7 also goes to planes 0, 1, 3 and 4 (x^8 = x^4 +
   x^3 + x + 1). */

/* For k = 0, when no column is rotated: \t is that of \p; this computes \t_below of the plane
   below. */
.macro mix_plane_0 p, below, t, t_below
    eor     \t_below, \below, \below, ror #8
    eor     \p, \t_below, \p, ror #8
    eor     \p, \p, \t, ror #16
.endm

.macro mix_columns_0
    eor     r8, P7, P7, ror #8
    mix_plane_0 P7, P6, r8, r9
    mix_plane_0 P6, P5, r9, r10
    mix_plane_0 P5, P4, r10, r9
    mix_plane_0 P4, P3, r9, r10
    eor     P4, P4, r8
    mix_plane_0 P3, P2, r10, r9
    eor     P3, P3, r8
    mix_plane_0 P2, P1, r9, r10
    mix_plane_0 P1, P0, r10, r9
    eor     P1, P1, r8
    eor     P0, r8, P0, ror #8
    eor     P0, P0, r9, ror #16
.endm

/* B of \p, still to be rotated right by 2 k, and t: columns are rotated by k = 1, 2 or 3 within
   each byte. */
.macro below_and_t k, p, b, t
    and     \b, \p, #0x01010101 * ((1 << (2 * \k)) - 1)
    eor     \t, \p, \b
    eor     \b, \b, \t, ror #8
    eor     \t, \p, \b, ror #(2 * \k)
.endm

/* Adds t two rows below, which rotates columns by 2 k, that is, 0 or 2. \low and \high are
   scratch. */
.macro add_two_below k, p, t, low, high
    .if \k == 2
    eor     \p, \p, \t, ror #16
    .else
    and     \low, \t, #0x0f0f0f0f
    eor     \high, \t, \low
    eor     \p, \p, \low, ror #12
    eor     \p, \p, \high, ror #20
    .endif
.endm

/* \b and \t are those of \p; this computes \b_below and \t_below of the plane below. */
.macro mix_plane k, p, below, b, t, b_below, t_below, scratch
    below_and_t \k, \below, \b_below, \t_below
    eor     \p, \t_below, \b, ror #(2 * \k)
    add_two_below \k, \p, \t, \b, \scratch
.endm

.macro mix_columns k
    below_and_t \k, P7, r9, r8
    mix_plane \k, P7, P6, r9, r8, r10, r11, r12
    mix_plane \k, P6, P5, r10, r11, r9, r12, r11
    mix_plane \k, P5, P4, r9, r12, r10, r11, r12
    mix_plane \k, P4, P3, r10, r11, r9, r12, r11
    eor     P4, P4, r8
    mix_plane \k, P3, P2, r9, r12, r10, r11, r12
    eor     P3, P3, r8
    mix_plane \k, P2, P1, r10, r11, r9, r12, r11
    mix_plane \k, P1, P0, r9, r12, r10, r11, r12
    eor     P1, P1, r8
    eor     P0, r8, r10, ror #(2 * \k)
    add_two_below \k, P0, r11, r9, r12
.endm

/* a ^ a two rows below, with columns rotated by 2 k; r12 is scratch. */
.macro with_two_below k, u, p
    .if \k % 2 == 0
    eor     \u, \p, \p, ror #16
    .else
    and     \u, \p, #0x0f0f0f0f
    eor     r12, \p, \u
    eor     \u, \p, \u, ror #12
    eor     \u, \u, r12, ror #20
    .endif
.endm

/* The inverse matrix is the matrix times circ(5, 0, 4, 0) (Daemen and Rijmen, The Design of
   Rijndael, section 4.1.3), so first add 4 u, where u = a ^ a two rows below. */
.macro inverse_mix_columns k
    with_two_below \k, r8, P7
    with_two_below \k, r9, P6
    eor     r11, r8, r9
    with_two_below \k, r10, P5
    eor     P7, P7, r10
    with_two_below \k, r10, P4
    eor     P6, P6, r10
    with_two_below \k, r10, P3
    eor     P5, P5, r8
    eor     P5, P5, r10
    with_two_below \k, r10, P2
    eor     P4, P4, r11
    eor     P4, P4, r10
    with_two_below \k, r10, P1
    eor     P3, P3, r9
    eor     P3, P3, r10
    with_two_below \k, r10, P0
    eor     P2, P2, r8
    eor     P2, P2, r10
    eor     P1, P1, r11
    eor     P0, P0, r9
    .if \k == 0
    mix_columns_0
    .else
    mix_columns \k
    .endif
.endm

/* The inverse of the affine map's linear part (p to u), the circuit, and the inverse again. */
.macro inverse_sub_bytes
    eor     r12, r4, r7     /* q4 */
    eor     r11, r0, r3     /* q0 */
    eor     lr, r6, r1      /* q6 */
    eor     r10, r11, r5    /* u1 */
    eor     r9, r11, r6     /* u6 */
    eor     r8, lr, r3      /* u3 */
    eor     r11, r12, r1    /* u5 */
    eor     r6, r8, r11     /* y14 */
    eor     lr, lr, r4      /* u0 */
    eor     r4, r2, r5      /* q2 */
    eor     r12, r12, r2    /* u2 */
    eor     r3, r4, r0      /* u4 */
    eor     r2, lr, r9      /* y13 */
    eor     r0, lr, r11     /* y8 */
    str.w   r0, [sp, #0]    /* y8 */
    eor     r4, r4, r7      /* u7 */
    eor     r7, r2, r6      /* y12 */
    eor     r12, r10, r12   /* t0 */
    eor     r5, r3, r7      /* t1 */
    eor     r1, r12, r4     /* y1 */
    eor     r11, r5, r11    /* y15 */
    str.w   r11, [sp, #4]   /* y15 */
    eor     r10, r5, r10    /* y20 */
    eor     r9, r1, r9      /* y5 */
    str.w   r9, [sp, #8]    /* y5 */
    eor     r3, r9, r0      /* y3 */
    str.w   r3, [sp, #12]   /* y3 */
    eor     r5, r11, r4     /* y6 */
    str.w   r5, [sp, #16]   /* y6 */
    and     r5, r3, r5      /* t3 */
    and     r3, r7, r11     /* t2 */
    eor     r7, r5, r3      /* t4 */
    eor     r7, r7, r10     /* t17 */
    eor     r5, r1, r8      /* y4 */
    str.w   r5, [sp, #20]   /* y4 */
    and     r9, r9, r1      /* t8 */
    and     r5, r5, r4      /* t5 */
    eor     r3, r5, r3      /* t6 */
    eor     r8, lr, r8      /* y9 */
    str.w   r8, [sp, #24]   /* y9 */
    eor     r10, r10, r8    /* y11 */
    str.w   r10, [sp, #28]  /* y11 */
    and     r8, r8, r10     /* t12 */
    eor     r11, r11, r12   /* y10 */
    str.w   r11, [sp, #32]  /* y10 */
    and     r5, r0, r11     /* t15 */
    eor     r0, r11, r0     /* y19 */
    eor     r11, r11, r10   /* y17 */
    str.w   r11, [sp, #36]  /* y17 */
    eor     r5, r5, r8      /* t16 */
    and     r11, r6, r11    /* t13 */
    eor     r12, r12, r10   /* y16 */
    eor     r11, r11, r8    /* t14 */
    eor     r8, r3, r5      /* t18 */
    eor     r8, r8, r0      /* t22 */
    eor     r0, r2, r12     /* y21 */
    and     r3, r2, r12     /* t7 */
    eor     r9, r9, r3      /* t9 */
    eor     r10, r4, r10    /* y7 */
    eor     r9, r9, r11     /* t19 */
    eor     r11, r7, r11    /* t21 */
    eor     r7, lr, r12     /* y18 */
    eor     r9, r9, r0      /* t23 */
    eor     lr, r1, lr      /* y2 */
    and     r0, lr, r10     /* t10 */
    eor     r0, r0, r3      /* t11 */
    eor     r0, r0, r5      /* t20 */
    and     r5, r11, r9     /* t26 */
    eor     r3, r8, r5      /* t31 */
    eor     r7, r0, r7      /* t24 */
    eor     r0, r7, r5      /* t27 */
    eor     r5, r9, r7      /* t30 */
    and     r3, r3, r5      /* t32 */
    eor     r11, r11, r8    /* t25 */
    and     r5, r11, r0     /* t28 */
    eor     r8, r5, r8      /* t29 */
    eor     r3, r3, r7      /* t33 */
    str.w   r3, [sp, #40]   /* t33 */
    eor     r5, r0, r3      /* t35 */
    eor     r9, r9, r3      /* t34 */
    and     r7, r7, r5      /* t36 */
    eor     r5, r0, r7      /* t38 */
    and     lr, r8, lr      /* z14 */
    and     r0, r8, r5      /* t39 */
    and     r5, r3, r4      /* z2 */
    eor     r9, r7, r9      /* t37 */
    eor     r7, r3, r9      /* t44 */
    eor     r11, r11, r0    /* t40 */
    eor     r0, r2, r6      /* y12 */
    and     r0, r7, r0      /* z9 */
    ldr.w   r4, [sp, #4]    /* y15 */
    and     r4, r7, r4      /* z0 */
    eor     r5, r4, r5      /* tc4 */
    ldr.w   r7, [sp, #16]   /* y6 */
    and     r7, r9, r7      /* z1 */
    eor     r3, r8, r3      /* t42 */
    and     r1, r11, r1     /* z4 */
    and     r10, r8, r10    /* z5 */
    eor     r7, r7, r4      /* tc5 */
    ldr.w   r4, [sp, #8]    /* y5 */
    and     r4, r11, r4     /* z13 */
    eor     r8, r8, r11     /* t43 */
    and     r12, r8, r12    /* z3 */
    eor     r10, r12, r10   /* tc12 */
    and     r8, r8, r2      /* z12 */
    ldr.w   r2, [sp, #12]   /* y3 */
    and     r2, r9, r2      /* z10 */
    eor     r9, r11, r9     /* t41 */
    eor     r11, r3, r9     /* t45 */
    and     r6, r11, r6     /* z16 */
    eor     r12, r12, r1    /* tc6 */
    ldr.w   r1, [sp, #36]   /* y17 */
    and     r11, r11, r1    /* z7 */
    ldr.w   r1, [sp, #24]   /* y9 */
    and     r1, r3, r1      /* z15 */
    eor     r10, r5, r10    /* tc14 */
    eor     r5, r8, r5      /* tc7 */
    eor     r7, r12, r7     /* tc11 */
    eor     r6, r1, r6      /* tc1 */
    eor     r12, r11, r12   /* tc8 */
    eor     r11, r4, r6     /* tc13 */
    eor     r2, r2, r6      /* tc2 */
    ldr.w   r6, [sp, #28]   /* y11 */
    and     r4, r3, r6      /* z6 */
    eor     r3, r4, r12     /* tc16 */
    ldr.w   r4, [sp, #32]   /* y10 */
    and     r4, r9, r4      /* z8 */
    eor     r4, r4, r5      /* tc9 */
    eor     r12, r12, r4    /* tc10 */
    eor     r5, r0, r2      /* tc3 */
    eor     r4, r1, r3      /* tc20 */
    eor     r11, r11, r10   /* tc18 */
    eor     r6, r12, r11    /* s6 */
    eor     r7, r5, r7      /* s3 */
    eor     r11, r8, r11    /* s7 */
    eor     r10, r10, r7    /* s4 */
    eor     r0, r5, r3      /* s0 */
    eor     r8, lr, r12     /* tc17 */
    eor     lr, r11, r10    /* w0 */
    eor     r12, r7, r0     /* w4 */
    eor     r5, r7, r3      /* s1 */
    ldr.w   r1, [sp, #0]    /* y8 */
    and     r3, r9, r1      /* z17 */
    ldr.w   r1, [sp, #40]   /* t33 */
    ldr.w   r9, [sp, #20]   /* y4 */
    and     r9, r1, r9      /* z11 */
    eor     r9, r2, r9      /* tc21 */
    eor     r1, r5, r6      /* w6 */
    eor     r9, r9, r8      /* s5 */
    eor     r2, r12, r6     /* o2 */
    eor     r8, r8, r4      /* tc26 */
    eor     r8, r8, r3      /* s2 */
    eor     r6, r9, r8      /* w2 */
    eor     r0, r6, r0      /* o0 */
    eor     r3, r6, r11     /* o3 */
    eor     r4, r1, r10     /* o4 */
    eor     r6, lr, r8      /* o6 */
    eor     r7, r1, r7      /* o7 */
    eor     r1, lr, r5      /* o1 */
    eor     r5, r12, r9     /* o5 */
.endm

/* After `round` more S-boxes: exits if that was the last round. */
.macro leave_after round, to
    ldr     lr, KEY
    ldr     r8, CTX
    sub     lr, lr, r8
    cmp     lr, #(32 * (AES_ROUNDS - \round))
    beq     \to
.endm

/* Clears the registers that held secrets and that the caller does not preserve. */
.macro leave_function
    mov     r0, #0
    mov     r1, #0
    mov     r2, #0
    mov     r3, #0
    .irp    word, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
    str.w   r0, [sp, #4 * \word]
    .endr
    add     sp, sp, #FRAME
    pop     {r4-r11, pc}
.endm

/* Loads the words of two blocks at IN, or of one block twice. */
.macro load_blocks
    ldr     r12, IN
    ldr     lr, BLOCKS
    sub     r10, lr, #1
    usat    r10, #1, r10
    add     r10, r12, r10, lsl #4
    ldr     P0, [r12]
    ldr     P2, [r12, #4]
    ldr     P4, [r12, #8]
    ldr     P6, [r12, #12]
    ldr     P1, [r10]
    ldr     P3, [r10, #4]
    ldr     P5, [r10, #8]
    ldr     P7, [r10, #12]
    add     r12, r12, #32
    str     r12, IN
.endm

.macro swap_odd_rows x, y
    eor     r8, \x, \y
    and     r8, r8, #0xff00ff00
    eor     \x, \x, r8
    eor     \y, \y, r8
.endm

/* Reorders words for the omitted ShiftRows, or back. Where these add up to two rotations, rows 1
   and 3 of columns c and c + 2 are swapped. */
.macro restore_rows
    .if AES_ROUNDS % 4 == 2
    swap_odd_rows P0, P4
    swap_odd_rows P1, P5
    swap_odd_rows P2, P6
    swap_odd_rows P3, P7
    .endif
.endm

/* Sets the flags for the loop: whether blocks remain. */
.macro store_blocks
    ldr     r12, OUT
    ldr     lr, BLOCKS
    sub     r10, lr, #1
    usat    r10, #1, r10
    add     r10, r12, r10, lsl #4
    str     P0, [r12]
    str     P2, [r12, #4]
    str     P4, [r12, #8]
    str     P6, [r12, #12]
    str     P1, [r10]
    str     P3, [r10, #4]
    str     P5, [r10, #8]
    str     P7, [r10, #12]
    add     r12, r12, #32
    str     r12, OUT
    subs    lr, lr, #2
    str     lr, BLOCKS
.endm

.macro enter
    cmp     r3, #0
    it      eq
    bxeq    lr
    push    {r4-r11, lr}
    sub     sp, sp, #FRAME
    str     r0, CTX
    str     r1, OUT
    str     r2, IN
    str     r3, BLOCKS
.endm

/* void aes_encrypt(const aes_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) */
    .section .text.aes_encrypt, "ax", %progbits
    .global aes_encrypt
    .type aes_encrypt, %function
    .balign 4
    .thumb_func
aes_encrypt:
    enter
    .balign 4
1:
    ldr     r8, CTX
    str     r8, KEY
    load_blocks
    transpose
    add_round_key 0
    .balign 4
2:
    sub_bytes
    mix_columns 1
    add_round_key 1
    sub_bytes
    .if AES_ROUNDS % 4 == 2
    leave_after 2, 3f
    .endif
    mix_columns 2
    add_round_key 2
    sub_bytes
    mix_columns 3
    add_round_key 3
    sub_bytes
    .if AES_ROUNDS % 4 == 0
    leave_after 4, 3f
    .endif
    mix_columns_0
    add_round_key 4
    add     lr, lr, #128
    str     lr, KEY
    b       2b
3:
    add_round_key (((AES_ROUNDS - 1) & 3) + 1)
    transpose
    restore_rows
    store_blocks
    bgt     1b
    leave_function
    .size aes_encrypt, . - aes_encrypt

/* void aes_decrypt(const aes_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) */
    .section .text.aes_decrypt, "ax", %progbits
    .global aes_decrypt
    .type aes_decrypt, %function
    .balign 4
    .thumb_func
aes_decrypt:
    enter
    .balign 4
1:
    ldr     r8, CTX
    add     r8, r8, #(32 * ((AES_ROUNDS - 1) & ~3))
    str     r8, KEY
    load_blocks
    restore_rows
    transpose
    add_round_key (((AES_ROUNDS - 1) & 3) + 1)
    .if AES_ROUNDS % 4 == 2
    b       5f
    .else
    b       3f
    .endif
    .balign 4
2:
    inverse_sub_bytes
    ldr     lr, KEY
    ldr     r8, CTX
    cmp     lr, r8
    blo     6f
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
    sub     r8, lr, #128
    str     r8, KEY
    inverse_mix_columns 1
    b       2b
6:
    add_round_key 4
    transpose
    store_blocks
    bgt     1b
    leave_function
    .size aes_decrypt, . - aes_decrypt

/* void aes_sub_planes(uint32_t planes[8]) */
    .section .text.aes_sub_planes, "ax", %progbits
    .global aes_sub_planes
    .type aes_sub_planes, %function
    .balign 4
    .thumb_func
aes_sub_planes:
    push    {r4-r11, lr}
    sub     sp, sp, #FRAME
    str     r0, CTX
    mov     lr, r0
    ldm     lr, {r0-r7}
    sub_bytes
    ldr     lr, CTX
    stm     lr, {r0-r7}
    leave_function
    .size aes_sub_planes, . - aes_sub_planes

/* void aes_transpose(uint32_t planes[8]) */
    .section .text.aes_transpose, "ax", %progbits
    .global aes_transpose
    .type aes_transpose, %function
    .balign 4
    .thumb_func
aes_transpose:
    push    {r4-r8, lr}
    mov     lr, r0
    ldm     lr, {r0-r7}
    transpose
    stm     lr, {r0-r7}
    pop     {r4-r8, pc}
    .size aes_transpose, . - aes_transpose
