/* AES on two blocks at a time, as armv7m-fixslice computes it: plane i, in register i, holds bit i
   of all 32 bytes; its bit 8 r + 2 c + b belongs to the byte in row r and column c of block b. After
   k omissions of ShiftRows, the planes hold at (r, c + k r) the byte that belongs at (r, c). Only k
   modulo 4 matters.

   Each macro expects the planes in r0 to r7 and leaves them there. Within one, values are in lower
   registers, in upper ones, or in the frame, and an operation replaces one of its operands. Orders
   and registers were found by a search for the fewest cycles. */
    .syntax unified
    .thumb

#define AES_ROUNDS (AES_KEY_BITS / 32 + 6)

/* The frame, above the 12 words that the macros use. */
#define MASK_1 48 /* the columns that rotation by one within a byte carries over */
#define NIBBLES [sp, #52]
#define MASK_3 56 /* by three */
#define BITS [sp, #60]
#define PAIRS [sp, #64]
#define ODD_ROWS [sp, #68]
#define KEY [sp, #72] /* of the round that macros call 0 */
#define CTX [sp, #76]
#define OUT [sp, #80]
#define IN [sp, #84]
#define BLOCKS [sp, #88]
#define BUFFER 92 /* for blocks at unaligned addresses */
#define FRAME 124 /* a multiple of 8 with the 9 saved registers */

/* Adds the key of a round and computes SubBytes without the constant 0x63, which is folded into the
   round keys: the circuit of 113 gates published by the Circuit Minimization Team at Yale (Boyar,
   Peralta, Calik), with its names. */
.macro add_key_and_sub_bytes round
    mov     r8, r2              /* p2 */
    ldr     r2, KEY
    mov     r9, r4              /* p4 */
    ldr     r4, [r2, #32 * (\round) + 24]
    eors    r6, r6, r4          /* a6 */
    ldr     r4, [r2, #32 * (\round) + 20]
    eors    r4, r4, r5          /* a5 */
    ldr     r5, [r2, #32 * (\round) + 12]
    eors    r3, r3, r5          /* a3 */
    eors    r4, r4, r6          /* t0 */
    ldr     r5, [r2, #32 * (\round)]
    eors    r5, r5, r0          /* a0 */
    mov     r10, r4             /* t0 */
    eors    r4, r4, r5          /* y1 */
    ldr     r0, [r2, #32 * (\round) + 28]
    eors    r7, r7, r0          /* a7 */
    ldr     r0, [r2, #32 * (\round) + 4]
    eors    r1, r1, r0          /* a1 */
    ldr     r0, [r2, #32 * (\round) + 8]
    mov     r11, r4             /* y1 */
    eors    r4, r4, r1          /* y5 */
    mov     r12, r4             /* y5 */
    mov     r4, r11             /* y1 */
    eors    r4, r4, r7          /* y2 */
    eors    r1, r1, r7          /* y13 */
    ldr     r2, [r2, #32 * (\round) + 16]
    mov     lr, r4              /* y2 */
    mov     r4, r9              /* p4 */
    eors    r4, r4, r2          /* a4 */
    mov     r2, r8              /* p2 */
    eors    r0, r0, r2          /* a2 */
    movs    r2, r0
    eors    r2, r2, r4          /* y14 */
    mov     r8, r1              /* y13 */
    eors    r1, r1, r2          /* y12 */
    eors    r3, r3, r1          /* t1 */
    eors    r6, r6, r3          /* y20 */
    eors    r3, r3, r0          /* y15 */
    mov     r9, r3              /* y15 */
    eors    r3, r3, r5          /* y6 */
    eors    r0, r0, r7          /* y8 */
    str     r2, [sp, #0]        /* y14 */
    mov     r2, r9              /* y15 */
    ands    r2, r2, r1          /* t2 */
    str     r1, [sp, #4]        /* y12 */
    mov     r1, r11             /* y1 */
    eors    r1, r1, r4          /* y4 */
    str     r5, [sp, #8]        /* a0 */
    ands    r5, r5, r1          /* t5 */
    str     r1, [sp, #12]       /* y4 */
    mov     r1, r12             /* y5 */
    eors    r1, r1, r0          /* y3 */
    eors    r4, r4, r7          /* y9 */
    str     r1, [sp, #16]       /* y3 */
    ands    r1, r1, r3          /* t3 */
    eors    r1, r1, r2          /* t4 */
    eors    r1, r1, r6          /* t17 */
    eors    r6, r6, r4          /* y11 */
    str     r3, [sp, #20]       /* y6 */
    mov     r3, r10             /* t0 */
    mov     r10, r1             /* t17 */
    mov     r1, r9              /* y15 */
    eors    r1, r1, r3          /* y10 */
    eors    r2, r2, r5          /* t6 */
    movs    r5, r0
    eors    r5, r5, r1          /* y19 */
    eors    r3, r3, r6          /* y16 */
    str     r0, [sp, #24]       /* y8 */
    ands    r0, r0, r1          /* t15 */
    eors    r7, r7, r3          /* y18 */
    str     r4, [sp, #28]       /* y9 */
    ands    r4, r4, r6          /* t12 */
    eors    r0, r0, r4          /* t16 */
    eors    r2, r2, r0          /* t18 */
    eors    r2, r2, r5          /* t22 */
    ldr     r5, [sp, #8]        /* a0 */
    eors    r5, r5, r6          /* y7 */
    str     r1, [sp, #32]       /* y10 */
    eors    r1, r1, r6          /* y17 */
    str     r6, [sp, #36]       /* y11 */
    ldr     r6, [sp, #0]        /* y14 */
    ands    r6, r6, r1          /* t13 */
    eors    r6, r6, r4          /* t14 */
    mov     r4, lr              /* y2 */
    ands    r4, r4, r5          /* t10 */
    str     r1, [sp, #40]       /* y17 */
    mov     r1, r8              /* y13 */
    ands    r1, r1, r3          /* t7 */
    eors    r4, r4, r1          /* t11 */
    eors    r4, r4, r0          /* t20 */
    eors    r4, r4, r7          /* t24 */
    mov     r7, r11             /* y1 */
    mov     r0, r12             /* y5 */
    ands    r0, r0, r7          /* t8 */
    eors    r0, r0, r1          /* t9 */
    eors    r0, r0, r6          /* t19 */
    mov     r1, r8              /* y13 */
    eors    r1, r1, r3          /* y21 */
    eors    r1, r1, r0          /* t23 */
    mov     r0, r10             /* t17 */
    eors    r6, r6, r0          /* t21 */
    movs    r0, r1
    ands    r0, r0, r6          /* t26 */
    eors    r6, r6, r2          /* t25 */
    movs    r7, r2
    eors    r7, r7, r0          /* t31 */
    mov     r10, r1             /* t23 */
    eors    r1, r1, r4          /* t30 */
    ands    r7, r7, r1          /* t32 */
    eors    r0, r0, r4          /* t27 */
    eors    r7, r7, r4          /* t33 */
    movs    r1, r6
    ands    r1, r1, r0          /* t28 */
    eors    r1, r1, r2          /* t29 */
    movs    r2, r0
    eors    r2, r2, r7          /* t35 */
    ands    r2, r2, r4          /* t36 */
    ands    r5, r5, r1          /* z5 */
    eors    r0, r0, r2          /* t38 */
    mov     r4, r10             /* t23 */
    eors    r4, r4, r7          /* t34 */
    ands    r0, r0, r1          /* t39 */
    eors    r2, r2, r4          /* t37 */
    eors    r0, r0, r6          /* t40 */
    movs    r4, r0
    eors    r4, r4, r1          /* t43 */
    ands    r3, r3, r4          /* z3 */
    mov     r6, lr              /* y2 */
    ands    r6, r6, r1          /* z14 */
    eors    r1, r1, r7          /* t42 */
    eors    r5, r5, r3          /* tc12 */
    mov     r10, r6             /* z14 */
    mov     r6, r11             /* y1 */
    ands    r6, r6, r0          /* z4 */
    mov     r11, r1             /* t42 */
    mov     r1, r8              /* y13 */
    ands    r1, r1, r4          /* z12 */
    ldr     r4, [sp, #8]        /* a0 */
    ands    r4, r4, r7          /* z2 */
    mov     r8, r1              /* z12 */
    ldr     r1, [sp, #12]       /* y4 */
    ands    r1, r1, r7          /* z11 */
    eors    r7, r7, r2          /* t44 */
    mov     lr, r1              /* z11 */
    mov     r1, r9              /* y15 */
    ands    r1, r1, r7          /* z0 */
    eors    r4, r4, r1          /* tc4 */
    eors    r5, r5, r4          /* tc14 */
    eors    r6, r6, r3          /* tc6 */
    ldr     r3, [sp, #20]       /* y6 */
    ands    r3, r3, r2          /* z1 */
    eors    r1, r1, r3          /* tc5 */
    mov     r3, r12             /* y5 */
    ands    r3, r3, r0          /* z13 */
    eors    r0, r0, r2          /* t41 */
    mov     r9, r5              /* tc14 */
    ldr     r5, [sp, #24]       /* y8 */
    ands    r5, r5, r0          /* z17 */
    mov     r12, r5             /* z17 */
    ldr     r5, [sp, #16]       /* y3 */
    ands    r2, r2, r5          /* z10 */
    mov     r5, r8              /* z12 */
    eors    r4, r4, r5          /* tc7 */
    eors    r1, r1, r6          /* tc11 */
    ldr     r5, [sp, #32]       /* y10 */
    ands    r5, r5, r0          /* z8 */
    eors    r4, r4, r5          /* tc9 */
    mov     r5, r11             /* t42 */
    eors    r0, r0, r5          /* t45 */
    mov     r11, r1             /* tc11 */
    ldr     r1, [sp, #40]       /* y17 */
    ands    r1, r1, r0          /* z7 */
    eors    r1, r1, r6          /* tc8 */
    ldr     r6, [sp, #36]       /* y11 */
    ands    r6, r6, r5          /* z6 */
    eors    r6, r6, r1          /* tc16 */
    eors    r1, r1, r4          /* tc10 */
    ldr     r4, [sp, #0]        /* y14 */
    ands    r0, r0, r4          /* z16 */
    ldr     r4, [sp, #4]        /* y12 */
    ands    r7, r7, r4          /* z9 */
    ldr     r4, [sp, #28]       /* y9 */
    ands    r4, r4, r5          /* z15 */
    eors    r0, r0, r4          /* tc1 */
    eors    r2, r2, r0          /* tc2 */
    mov     r5, r10             /* z14 */
    eors    r5, r5, r1          /* tc17 */
    eors    r0, r0, r3          /* tc13 */
    eors    r4, r4, r6          /* tc20 */
    eors    r7, r7, r2          /* tc3 */
    mov     r3, lr              /* z11 */
    eors    r2, r2, r3          /* tc21 */
    eors    r2, r2, r5          /* s5 */
    eors    r5, r5, r4          /* tc26 */
    mov     r3, r12             /* z17 */
    eors    r5, r5, r3          /* s2 */
    mov     r3, r9              /* tc14 */
    eors    r0, r0, r3          /* tc18 */
    eors    r1, r1, r0          /* s6 */
    mov     r4, r8              /* z12 */
    eors    r0, r0, r4          /* s7 */
    mov     r4, r11             /* tc11 */
    eors    r4, r4, r7          /* s3 */
    eors    r7, r7, r6          /* s0 */
    eors    r6, r6, r4          /* s1 */
    eors    r3, r3, r4          /* s4 */
.endm

/* The inverse of the affine map's linear part, the circuit, and the inverse again. */
.macro inverse_sub_bytes
    mov     r8, r2              /* p2 */
    eors    r2, r2, r5          /* q2 */
    mov     r9, r2              /* q2 */
    eors    r2, r2, r7          /* u7 */
    mov     r10, r2             /* u7 */
    mov     r2, r9              /* q2 */
    eors    r2, r2, r0          /* u4 */
    eors    r0, r0, r3          /* q0 */
    eors    r5, r5, r0          /* u1 */
    eors    r0, r0, r6          /* u6 */
    eors    r7, r7, r4          /* q4 */
    eors    r6, r6, r1          /* q6 */
    eors    r4, r4, r6          /* u0 */
    eors    r3, r3, r6          /* u3 */
    eors    r1, r1, r7          /* u5 */
    movs    r6, r3
    eors    r6, r6, r1          /* y14 */
    mov     r9, r4              /* u0 */
    eors    r4, r4, r0          /* y13 */
    mov     r11, r4             /* y13 */
    eors    r4, r4, r6          /* y12 */
    eors    r2, r2, r4          /* t1 */
    mov     r12, r6             /* y14 */
    mov     r6, r8              /* p2 */
    eors    r7, r7, r6          /* u2 */
    eors    r7, r7, r5          /* t0 */
    mov     r6, r10             /* u7 */
    eors    r6, r6, r7          /* y1 */
    eors    r0, r0, r6          /* y5 */
    mov     r8, r5              /* u1 */
    mov     r5, r9              /* u0 */
    eors    r5, r5, r1          /* y8 */
    mov     lr, r5              /* y8 */
    eors    r5, r5, r0          /* y3 */
    str     r0, [sp, #0]        /* y5 */
    ands    r0, r0, r6          /* t8 */
    eors    r1, r1, r2          /* y15 */
    str     r6, [sp, #4]        /* y1 */
    eors    r6, r6, r3          /* y4 */
    str     r0, [sp, #8]        /* t8 */
    mov     r0, r10             /* u7 */
    eors    r0, r0, r1          /* y6 */
    str     r5, [sp, #12]       /* y3 */
    ands    r5, r5, r0          /* t3 */
    str     r0, [sp, #16]       /* y6 */
    mov     r0, r10             /* u7 */
    ands    r0, r0, r6          /* t5 */
    str     r4, [sp, #20]       /* y12 */
    ands    r4, r4, r1          /* t2 */
    eors    r5, r5, r4          /* t4 */
    str     r1, [sp, #24]       /* y15 */
    eors    r1, r1, r7          /* y10 */
    str     r6, [sp, #28]       /* y4 */
    mov     r6, lr              /* y8 */
    ands    r6, r6, r1          /* t15 */
    eors    r4, r4, r0          /* t6 */
    mov     r0, r9              /* u0 */
    eors    r3, r3, r0          /* y9 */
    mov     r0, r8              /* u1 */
    eors    r0, r0, r2          /* y20 */
    eors    r5, r5, r0          /* t17 */
    eors    r0, r0, r3          /* y11 */
    mov     r8, r1              /* y10 */
    eors    r1, r1, r0          /* y17 */
    str     r3, [sp, #32]       /* y9 */
    ands    r3, r3, r0          /* t12 */
    mov     r2, r12             /* y14 */
    ands    r2, r2, r1          /* t13 */
    eors    r7, r7, r0          /* y16 */
    str     r1, [sp, #36]       /* y17 */
    mov     r1, r11             /* y13 */
    ands    r1, r1, r7          /* t7 */
    eors    r6, r6, r3          /* t16 */
    eors    r3, r3, r2          /* t14 */
    eors    r5, r5, r3          /* t21 */
    eors    r4, r4, r6          /* t18 */
    mov     r2, r10             /* u7 */
    eors    r2, r2, r0          /* y7 */
    str     r0, [sp, #40]       /* y11 */
    ldr     r0, [sp, #8]        /* t8 */
    eors    r0, r0, r1          /* t9 */
    eors    r0, r0, r3          /* t19 */
    mov     r3, r9              /* u0 */
    mov     r9, r5              /* t21 */
    ldr     r5, [sp, #4]        /* y1 */
    eors    r5, r5, r3          /* y2 */
    str     r5, [sp, #8]        /* y2 */
    ands    r5, r5, r2          /* t10 */
    eors    r5, r5, r1          /* t11 */
    mov     r1, lr              /* y8 */
    mov     lr, r2              /* y7 */
    mov     r2, r8              /* y10 */
    eors    r2, r2, r1          /* y19 */
    eors    r6, r6, r5          /* t20 */
    eors    r4, r4, r2          /* t22 */
    mov     r2, r11             /* y13 */
    eors    r2, r2, r7          /* y21 */
    eors    r3, r3, r7          /* y18 */
    eors    r6, r6, r3          /* t24 */
    eors    r2, r2, r0          /* t23 */
    movs    r3, r2
    eors    r3, r3, r6          /* t30 */
    mov     r0, r9              /* t21 */
    ands    r0, r0, r2          /* t26 */
    movs    r5, r6
    eors    r5, r5, r0          /* t27 */
    eors    r0, r0, r4          /* t31 */
    ands    r3, r3, r0          /* t32 */
    eors    r3, r3, r6          /* t33 */
    movs    r0, r5
    eors    r0, r0, r3          /* t35 */
    eors    r2, r2, r3          /* t34 */
    ands    r0, r0, r6          /* t36 */
    mov     r6, r9              /* t21 */
    eors    r6, r6, r4          /* t25 */
    eors    r2, r2, r0          /* t37 */
    eors    r0, r0, r5          /* t38 */
    ands    r5, r5, r6          /* t28 */
    eors    r5, r5, r4          /* t29 */
    mov     r4, r10             /* u7 */
    ands    r4, r4, r3          /* z2 */
    ands    r0, r0, r5          /* t39 */
    eors    r6, r6, r0          /* t40 */
    mov     r9, r5              /* t29 */
    eors    r5, r5, r6          /* t43 */
    mov     r0, r11             /* y13 */
    ands    r0, r0, r5          /* z12 */
    mov     r10, r0             /* z12 */
    ldr     r0, [sp, #0]        /* y5 */
    ands    r0, r0, r6          /* z13 */
    mov     r11, r0             /* z13 */
    ldr     r0, [sp, #4]        /* y1 */
    ands    r0, r0, r6          /* z4 */
    ands    r7, r7, r5          /* z3 */
    eors    r6, r6, r2          /* t41 */
    movs    r5, r3
    eors    r5, r5, r2          /* t44 */
    ands    r1, r1, r6          /* z17 */
    str     r1, [sp, #0]        /* z17 */
    ldr     r1, [sp, #20]       /* y12 */
    ands    r1, r1, r5          /* z9 */
    str     r1, [sp, #4]        /* z9 */
    ldr     r1, [sp, #24]       /* y15 */
    ands    r1, r1, r5          /* z0 */
    eors    r4, r4, r1          /* tc4 */
    ldr     r5, [sp, #16]       /* y6 */
    ands    r5, r5, r2          /* z1 */
    eors    r1, r1, r5          /* tc5 */
    eors    r0, r0, r7          /* tc6 */
    eors    r1, r1, r0          /* tc11 */
    mov     r5, lr              /* y7 */
    mov     lr, r1              /* tc11 */
    mov     r1, r9              /* t29 */
    ands    r5, r5, r1          /* z5 */
    eors    r5, r5, r7          /* tc12 */
    ldr     r7, [sp, #12]       /* y3 */
    ands    r7, r7, r2          /* z10 */
    eors    r1, r1, r3          /* t42 */
    eors    r5, r5, r4          /* tc14 */
    mov     r2, r8              /* y10 */
    ands    r2, r2, r6          /* z8 */
    eors    r6, r6, r1          /* t45 */
    mov     r8, r5              /* tc14 */
    mov     r5, r10             /* z12 */
    eors    r4, r4, r5          /* tc7 */
    eors    r4, r4, r2          /* tc9 */
    ldr     r2, [sp, #36]       /* y17 */
    ands    r2, r2, r6          /* z7 */
    ldr     r5, [sp, #28]       /* y4 */
    ands    r3, r3, r5          /* z11 */
    eors    r2, r2, r0          /* tc8 */
    ldr     r0, [sp, #32]       /* y9 */
    ands    r0, r0, r1          /* z15 */
    mov     r5, r12             /* y14 */
    ands    r5, r5, r6          /* z16 */
    ldr     r6, [sp, #40]       /* y11 */
    ands    r1, r1, r6          /* z6 */
    eors    r5, r5, r0          /* tc1 */
    eors    r7, r7, r5          /* tc2 */
    eors    r4, r4, r2          /* tc10 */
    eors    r1, r1, r2          /* tc16 */
    ldr     r2, [sp, #8]        /* y2 */
    mov     r6, r9              /* t29 */
    ands    r2, r2, r6          /* z14 */
    eors    r2, r2, r4          /* tc17 */
    mov     r6, r11             /* z13 */
    eors    r5, r5, r6          /* tc13 */
    mov     r6, r8              /* tc14 */
    eors    r5, r5, r6          /* tc18 */
    eors    r4, r4, r5          /* s6 */
    eors    r3, r3, r7          /* tc21 */
    eors    r0, r0, r1          /* tc20 */
    eors    r0, r0, r2          /* tc26 */
    ldr     r6, [sp, #0]        /* z17 */
    eors    r6, r6, r0          /* s2 */
    ldr     r0, [sp, #4]        /* z9 */
    eors    r0, r0, r7          /* tc3 */
    eors    r2, r2, r3          /* s5 */
    mov     r3, r10             /* z12 */
    eors    r3, r3, r5          /* s7 */
    mov     r7, lr              /* tc11 */
    eors    r7, r7, r0          /* s3 */
    eors    r0, r0, r1          /* s0 */
    eors    r1, r1, r7          /* s1 */
    mov     r9, r0              /* s0 */
    eors    r0, r0, r7          /* w4 */
    movs    r5, r0
    eors    r5, r5, r2          /* o5 */
    eors    r0, r0, r4          /* o2 */
    eors    r4, r4, r1          /* w6 */
    mov     r10, r0             /* o2 */
    mov     r0, r8              /* tc14 */
    eors    r0, r0, r7          /* s4 */
    eors    r7, r7, r4          /* o7 */
    eors    r4, r4, r0          /* o4 */
    eors    r0, r0, r3          /* w0 */
    eors    r2, r2, r6          /* w2 */
    eors    r1, r1, r0          /* o1 */
    eors    r6, r6, r0          /* o6 */
    mov     r0, r9              /* s0 */
    eors    r0, r0, r2          /* o0 */
    eors    r3, r3, r2          /* o3 */
    mov     r2, r10             /* o2 */
.endm

/* MixColumns: with b the byte below and t = p ^ b, the result is 2 t ^ b ^ t two rows below.
   Doubling takes each bit from the plane below; t7 also goes to planes 0, 1, 3 and 4 (x^8 = x^4 +
   x^3 + x + 1). For k = 0 no column is rotated. */
.macro mix_columns_0
    mov     r8, r0              /* p0 */
    movs    r0, #8
    mov     r9, r4              /* p4 */
    rors    r4, r4, r0          /* b4 */
    mov     r10, r1             /* p1 */
    movs    r1, r2
    rors    r1, r1, r0          /* b2 */
    mov     r11, r5             /* p5 */
    movs    r5, r3
    rors    r5, r5, r0          /* b3 */
    eors    r2, r2, r1          /* t2 */
    mov     r12, r1             /* b2 */
    movs    r1, r7
    rors    r1, r1, r0          /* b7 */
    eors    r3, r3, r5          /* t3 */
    eors    r5, r5, r2          /* m3 */
    mov     r0, r9              /* p4 */
    eors    r0, r0, r4          /* t4 */
    eors    r7, r7, r1          /* t7 */
    eors    r5, r5, r7          /* n3 */
    eors    r4, r4, r3
    eors    r4, r4, r7          /* n4 */
    mov     r9, r7              /* t7 */
    movs    r7, #16
    rors    r3, r3, r7          /* w3 */
    eors    r3, r3, r5          /* o3 */
    movs    r5, #8
    mov     lr, r3              /* o3 */
    movs    r3, r6
    rors    r3, r3, r5          /* b6 */
    eors    r6, r6, r3          /* t6 */
    eors    r1, r1, r6          /* m7 */
    rors    r6, r6, r7          /* w6 */
    mov     r7, r11             /* p5 */
    mov     r11, r1             /* m7 */
    movs    r1, r7
    rors    r1, r1, r5          /* b5 */
    eors    r7, r7, r1          /* t5 */
    eors    r3, r3, r7          /* m6 */
    eors    r3, r3, r6          /* o6 */
    eors    r1, r1, r0          /* m5 */
    movs    r6, #16
    rors    r7, r7, r6          /* w5 */
    eors    r1, r1, r7          /* o5 */
    mov     r7, r10             /* p1 */
    mov     r10, r1             /* o5 */
    movs    r1, r7
    rors    r1, r1, r5          /* b1 */
    eors    r7, r7, r1          /* t1 */
    rors    r0, r0, r6          /* w4 */
    eors    r4, r4, r0          /* o4 */
    mov     r0, r8              /* p0 */
    rors    r0, r0, r5          /* b0 */
    mov     r5, r8              /* p0 */
    eors    r5, r5, r0          /* t0 */
    eors    r1, r1, r5
    rors    r2, r2, r6          /* w2 */
    rors    r5, r5, r6          /* w0 */
    mov     r8, r3              /* o6 */
    mov     r3, r9              /* t7 */
    eors    r0, r0, r3          /* m0 */
    eors    r0, r0, r5          /* o0 */
    eors    r1, r1, r3          /* n1 */
    rors    r3, r3, r6          /* w7 */
    mov     r5, r12             /* b2 */
    eors    r5, r5, r7
    rors    r7, r7, r6          /* w1 */
    eors    r2, r2, r5          /* o2 */
    eors    r1, r1, r7          /* o1 */
    mov     r7, r11             /* m7 */
    eors    r7, r7, r3          /* o7 */
    mov     r3, lr              /* o3 */
    mov     r5, r10             /* o5 */
    mov     r6, r8              /* o6 */
.endm

/* For k = 2, columns are rotated by two, which are the nibbles of each byte. */
.macro mix_columns_2
    mov     r8, r2              /* p2 */
    ldr     r2, NIBBLES
    mov     r9, r1              /* p1 */
    movs    r1, r2
    ands    r1, r1, r7          /* low7 */
    mov     r10, r3             /* p3 */
    movs    r3, r2
    ands    r3, r3, r5          /* low5 */
    ands    r2, r2, r0          /* low0 */
    mov     r11, r7             /* p7 */
    eors    r7, r7, r1          /* high7 */
    mov     r12, r4             /* p4 */
    movs    r4, r0
    eors    r4, r4, r2          /* high0 */
    mov     lr, r5              /* p5 */
    eors    r5, r5, r3          /* high5 */
    str     r0, [sp, #0]        /* p0 */
    movs    r0, #8
    rors    r5, r5, r0          /* rh5 */
    rors    r4, r4, r0          /* rh0 */
    rors    r7, r7, r0          /* rh7 */
    eors    r7, r7, r1          /* c7 */
    movs    r1, #4
    rors    r7, r7, r1          /* b7 */
    eors    r2, r2, r4          /* c0 */
    rors    r2, r2, r1          /* b0 */
    ldr     r4, NIBBLES
    str     r2, [sp, #4]        /* b0 */
    movs    r2, r4
    ands    r2, r2, r6          /* low6 */
    eors    r5, r5, r3          /* c5 */
    mov     r3, r11             /* p7 */
    eors    r3, r3, r7          /* t7 */
    mov     r11, r3             /* t7 */
    movs    r3, r2
    eors    r3, r3, r6          /* high6 */
    rors    r3, r3, r0          /* rh6 */
    eors    r2, r2, r3          /* c6 */
    mov     r3, r12             /* p4 */
    ands    r4, r4, r3          /* low4 */
    eors    r3, r3, r4          /* high4 */
    rors    r2, r2, r1          /* b6 */
    rors    r3, r3, r0          /* rh4 */
    eors    r6, r6, r2          /* t6 */
    rors    r5, r5, r1          /* b5 */
    eors    r4, r4, r3          /* c4 */
    eors    r7, r7, r6          /* m7 */
    movs    r3, #16
    rors    r6, r6, r3          /* w6 */
    rors    r4, r4, r1          /* b4 */
    str     r7, [sp, #8]        /* m7 */
    mov     r7, lr              /* p5 */
    eors    r7, r7, r5          /* t5 */
    eors    r2, r2, r7          /* m6 */
    rors    r7, r7, r3          /* w5 */
    mov     r3, r12             /* p4 */
    eors    r3, r3, r4          /* t4 */
    eors    r5, r5, r3          /* m5 */
    eors    r7, r7, r5          /* o5 */
    mov     r5, r10             /* p3 */
    mov     r12, r7             /* o5 */
    ldr     r7, NIBBLES
    mov     lr, r3              /* t4 */
    movs    r3, r5
    ands    r3, r3, r7          /* low3 */
    eors    r5, r5, r3          /* high3 */
    rors    r5, r5, r0          /* rh3 */
    eors    r3, r3, r5          /* c3 */
    mov     r5, r9              /* p1 */
    ands    r5, r5, r7          /* low1 */
    eors    r6, r6, r2          /* o6 */
    mov     r2, r8              /* p2 */
    ands    r7, r7, r2          /* low2 */
    eors    r2, r2, r7          /* high2 */
    rors    r2, r2, r0          /* rh2 */
    eors    r2, r2, r7          /* c2 */
    rors    r2, r2, r1          /* b2 */
    rors    r3, r3, r1          /* b3 */
    mov     r7, r9              /* p1 */
    eors    r7, r7, r5          /* high1 */
    rors    r7, r7, r0          /* rh1 */
    mov     r0, r10             /* p3 */
    eors    r0, r0, r3          /* t3 */
    eors    r5, r5, r7          /* c1 */
    eors    r4, r4, r0
    movs    r7, #16
    rors    r0, r0, r7          /* w3 */
    mov     r10, r6             /* o6 */
    mov     r6, r8              /* p2 */
    eors    r6, r6, r2          /* t2 */
    eors    r3, r3, r6          /* m3 */
    rors    r5, r5, r1          /* b1 */
    mov     r1, r9              /* p1 */
    eors    r1, r1, r5          /* t1 */
    eors    r2, r2, r1
    rors    r1, r1, r7          /* w1 */
    rors    r6, r6, r7          /* w2 */
    mov     r7, r11             /* t7 */
    eors    r4, r4, r7          /* n4 */
    eors    r2, r2, r6          /* o2 */
    eors    r3, r3, r7          /* n3 */
    eors    r3, r3, r0          /* o3 */
    ldr     r0, [sp, #0]        /* p0 */
    ldr     r6, [sp, #4]        /* b0 */
    eors    r0, r0, r6          /* t0 */
    eors    r5, r5, r0
    eors    r5, r5, r7          /* n1 */
    eors    r1, r1, r5          /* o1 */
    eors    r6, r6, r7          /* m0 */
    movs    r5, #16
    rors    r7, r7, r5          /* w7 */
    rors    r0, r0, r5          /* w0 */
    eors    r0, r0, r6          /* o0 */
    ldr     r6, [sp, #8]        /* m7 */
    eors    r7, r7, r6          /* o7 */
    mov     r6, lr              /* t4 */
    rors    r6, r6, r5          /* w4 */
    eors    r4, r4, r6          /* o4 */
    mov     r5, r12             /* o5 */
    mov     r6, r10             /* o6 */
.endm

/* For k = 1 and k = 3, columns are rotated by k within each byte, that is 2 k = \turn bits, which
   carries the bits of \mask over. */
.macro mix_columns_odd mask, turn
    mov     r8, r2              /* p2 */
    ldr     r2, [sp, #\mask]
    mov     r9, r3              /* p3 */
    movs    r3, r2
    ands    r3, r3, r6          /* low6 */
    mov     r10, r6             /* p6 */
    eors    r6, r6, r3          /* high6 */
    mov     r11, r0             /* p0 */
    movs    r0, #8
    rors    r6, r6, r0          /* rh6 */
    mov     r12, r1             /* p1 */
    movs    r1, r2
    ands    r1, r1, r5          /* low5 */
    eors    r3, r3, r6          /* c6 */
    movs    r6, r5
    eors    r6, r6, r1          /* high5 */
    rors    r6, r6, r0          /* rh5 */
    eors    r1, r1, r6          /* c5 */
    movs    r6, #\turn
    rors    r1, r1, r6          /* b5 */
    eors    r5, r5, r1          /* t5 */
    rors    r3, r3, r6          /* b6 */
    mov     lr, r3              /* b6 */
    movs    r3, r2
    ands    r3, r3, r4          /* low4 */
    str     r5, [sp, #0]        /* t5 */
    movs    r5, r4
    eors    r5, r5, r3          /* high4 */
    rors    r5, r5, r0          /* rh4 */
    eors    r5, r5, r3          /* c4 */
    rors    r5, r5, r6          /* b4 */
    eors    r4, r4, r5          /* t4 */
    eors    r1, r1, r4          /* m5 */
    movs    r3, r2
    ands    r3, r3, r7          /* low7 */
    str     r1, [sp, #4]        /* m5 */
    mov     r1, r12             /* p1 */
    ands    r1, r1, r2          /* low1 */
    str     r4, [sp, #8]        /* t4 */
    movs    r4, r3
    eors    r4, r4, r7          /* high7 */
    rors    r4, r4, r0          /* rh7 */
    eors    r3, r3, r4          /* c7 */
    mov     r4, r12             /* p1 */
    eors    r4, r4, r1          /* high1 */
    rors    r3, r3, r6          /* b7 */
    mov     r6, r11             /* p0 */
    ands    r6, r6, r2          /* low0 */
    eors    r7, r7, r3          /* t7 */
    rors    r4, r4, r0          /* rh1 */
    eors    r1, r1, r4          /* c1 */
    mov     r4, r9              /* p3 */
    ands    r4, r4, r2          /* low3 */
    str     r3, [sp, #12]       /* b7 */
    mov     r3, r9              /* p3 */
    eors    r3, r3, r4          /* high3 */
    rors    r3, r3, r0          /* rh3 */
    eors    r4, r4, r3          /* c3 */
    mov     r3, r11             /* p0 */
    eors    r3, r3, r6          /* high0 */
    rors    r3, r3, r0          /* rh0 */
    eors    r3, r3, r6          /* c0 */
    mov     r6, r8              /* p2 */
    ands    r2, r2, r6          /* low2 */
    eors    r6, r6, r2          /* high2 */
    rors    r6, r6, r0          /* rh2 */
    eors    r2, r2, r6          /* c2 */
    movs    r0, #\turn
    rors    r2, r2, r0          /* b2 */
    rors    r4, r4, r0          /* b3 */
    rors    r1, r1, r0          /* b1 */
    mov     r6, r9              /* p3 */
    eors    r6, r6, r4          /* t3 */
    eors    r5, r5, r6
    eors    r5, r5, r7          /* n4 */
    rors    r3, r3, r0          /* b0 */
    movs    r0, #16
    rors    r6, r6, r0          /* w3 */
    mov     r9, r5              /* n4 */
    lsrs    r5, r6, #4          /* x3 */
    mov     r0, r8              /* p2 */
    eors    r0, r0, r2          /* t2 */
    eors    r4, r4, r0          /* m3 */
    mov     r8, r2              /* b2 */
    ldr     r2, NIBBLES
    ands    r5, r5, r2          /* y3 */
    ands    r6, r6, r2          /* z3 */
    lsls    r6, r6, #4          /* u3 */
    eors    r4, r4, r7          /* n3 */
    eors    r4, r4, r5          /* q3 */
    mov     r5, r12             /* p1 */
    eors    r5, r5, r1          /* t1 */
    eors    r6, r6, r4          /* o3 */
    mov     r4, r11             /* p0 */
    eors    r4, r4, r3          /* t0 */
    eors    r3, r3, r7          /* m0 */
    eors    r1, r1, r4
    mov     r11, r6             /* o3 */
    movs    r6, #16
    rors    r0, r0, r6          /* w2 */
    rors    r4, r4, r6          /* w0 */
    lsrs    r6, r4, #4          /* x0 */
    ands    r6, r6, r2          /* y0 */
    eors    r1, r1, r7          /* n1 */
    ands    r4, r4, r2          /* z0 */
    lsls    r4, r4, #4          /* u0 */
    eors    r3, r3, r6          /* q0 */
    mov     r6, r8              /* b2 */
    eors    r6, r6, r5
    eors    r4, r4, r3          /* o0 */
    lsrs    r3, r0, #4          /* x2 */
    ands    r3, r3, r2          /* y2 */
    eors    r6, r6, r3          /* q2 */
    movs    r3, #16
    rors    r5, r5, r3          /* w1 */
    mov     r8, r4              /* o0 */
    lsrs    r4, r5, #4          /* x1 */
    ands    r4, r4, r2          /* y1 */
    ands    r0, r0, r2          /* z2 */
    lsls    r0, r0, #4          /* u2 */
    eors    r0, r0, r6          /* o2 */
    mov     r6, r10             /* p6 */
    mov     r12, r0             /* o2 */
    mov     r0, lr              /* b6 */
    eors    r6, r6, r0          /* t6 */
    eors    r4, r4, r1          /* q1 */
    ands    r5, r5, r2          /* z1 */
    lsls    r5, r5, #4          /* u1 */
    ldr     r1, [sp, #12]       /* b7 */
    eors    r1, r1, r6          /* m7 */
    rors    r6, r6, r3          /* w6 */
    eors    r4, r4, r5          /* o1 */
    rors    r7, r7, r3          /* w7 */
    lsrs    r5, r6, #4          /* x6 */
    ands    r6, r6, r2          /* z6 */
    ands    r5, r5, r2          /* y6 */
    mov     r10, r4             /* o1 */
    ldr     r4, [sp, #0]        /* t5 */
    eors    r0, r0, r4          /* m6 */
    eors    r5, r5, r0          /* q6 */
    lsrs    r0, r7, #4          /* x7 */
    ands    r0, r0, r2          /* y7 */
    ands    r7, r7, r2          /* z7 */
    lsls    r6, r6, #4          /* u6 */
    eors    r0, r0, r1          /* q7 */
    eors    r6, r6, r5          /* o6 */
    ldr     r1, [sp, #8]        /* t4 */
    rors    r1, r1, r3          /* w4 */
    rors    r4, r4, r3          /* w5 */
    lsrs    r5, r4, #4          /* x5 */
    lsls    r7, r7, #4          /* u7 */
    lsrs    r3, r1, #4          /* x4 */
    ands    r3, r3, r2          /* y4 */
    ands    r1, r1, r2          /* z4 */
    ands    r4, r4, r2          /* z5 */
    ands    r2, r2, r5          /* y5 */
    lsls    r5, r4, #4          /* u5 */
    ldr     r4, [sp, #4]        /* m5 */
    eors    r2, r2, r4          /* q5 */
    lsls    r4, r1, #4          /* u4 */
    mov     r1, r9              /* n4 */
    eors    r1, r1, r3          /* q4 */
    eors    r5, r5, r2          /* o5 */
    eors    r4, r4, r1          /* o4 */
    eors    r7, r7, r0          /* o7 */
    mov     r0, r8              /* o0 */
    mov     r1, r10             /* o1 */
    mov     r2, r12             /* o2 */
    mov     r3, r11             /* o3 */
.endm

/* The inverse matrix is the matrix times circ(5, 0, 4, 0) (Daemen and Rijmen, The Design of
   Rijndael, section 4.1.3), so InvMixColumns first adds 4 u, where u = a ^ a two rows below. Here
   after the key of a round; for even k. */
.macro add_key_and_4u_even round
    mov     r8, r0              /* p0 */
    ldr     r0, KEY
    mov     r9, r5              /* p5 */
    ldr     r5, [r0, #32 * (\round) + 24]
    eors    r6, r6, r5          /* a6 */
    ldr     r5, [r0, #32 * (\round) + 16]
    mov     r10, r6             /* a6 */
    ldr     r6, [r0, #32 * (\round) + 8]
    eors    r6, r6, r2          /* a2 */
    eors    r4, r4, r5          /* a4 */
    ldr     r2, [r0, #32 * (\round) + 20]
    ldr     r5, [r0, #32 * (\round) + 12]
    mov     r11, r6             /* a2 */
    ldr     r6, [r0, #32 * (\round) + 4]
    eors    r1, r1, r6          /* a1 */
    movs    r6, #16
    mov     r12, r4             /* a4 */
    rors    r4, r4, r6          /* w4 */
    mov     lr, r4              /* w4 */
    ldr     r4, [r0, #32 * (\round) + 28]
    eors    r4, r4, r7          /* a7 */
    eors    r5, r5, r3          /* a3 */
    movs    r3, r1
    rors    r3, r3, r6          /* w1 */
    eors    r3, r3, r1          /* u1 */
    mov     r7, r9              /* p5 */
    eors    r2, r2, r7          /* a5 */
    movs    r7, r5
    rors    r7, r7, r6          /* w3 */
    eors    r3, r3, r5
    mov     r9, r1              /* a1 */
    movs    r1, r2
    rors    r1, r1, r6          /* w5 */
    eors    r5, r5, r7          /* u3 */
    movs    r7, r4
    rors    r7, r7, r6          /* w7 */
    eors    r7, r7, r4          /* u7 */
    eors    r5, r5, r2
    eors    r2, r2, r1          /* u5 */
    mov     r1, r10             /* a6 */
    rors    r1, r1, r6          /* w6 */
    eors    r4, r4, r2
    ldr     r0, [r0, #32 * (\round)]
    mov     r2, r8              /* p0 */
    eors    r0, r0, r2          /* a0 */
    movs    r2, r0
    rors    r2, r2, r6          /* w0 */
    mov     r8, r4
    mov     r4, r10             /* a6 */
    eors    r1, r1, r4          /* u6 */
    eors    r2, r2, r0          /* u0 */
    mov     r4, r11             /* a2 */
    eors    r2, r2, r4
    eors    r2, r2, r7
    eors    r5, r5, r7
    rors    r4, r4, r6          /* w2 */
    eors    r0, r0, r1
    mov     r6, r11             /* a2 */
    eors    r4, r4, r6          /* u2 */
    eors    r7, r7, r1          /* s */
    mov     r6, r12             /* a4 */
    eors    r4, r4, r6
    eors    r4, r4, r7
    eors    r3, r3, r1
    mov     r1, lr              /* w4 */
    eors    r1, r1, r6          /* u4 */
    mov     r6, r10             /* a6 */
    eors    r6, r6, r1
    mov     r1, r9              /* a1 */
    eors    r1, r1, r7
    mov     r7, r8
.endm

.macro add_key_and_4u_odd round
    mov     r8, r1              /* p1 */
    ldr     r1, KEY
    mov     r9, r4              /* p4 */
    ldr     r4, [r1, #32 * (\round) + 28]
    eors    r4, r4, r7          /* a7 */
    ldr     r7, [r1, #32 * (\round) + 8]
    eors    r7, r7, r2          /* a2 */
    ldr     r2, [r1, #32 * (\round)]
    mov     r10, r4             /* a7 */
    ldr     r4, [r1, #32 * (\round) + 20]
    eors    r5, r5, r4          /* a5 */
    eors    r2, r2, r0          /* a0 */
    ldr     r0, [r1, #32 * (\round) + 12]
    ldr     r4, [r1, #32 * (\round) + 16]
    eors    r3, r3, r0          /* a3 */
    ldr     r0, [r1, #32 * (\round) + 24]
    eors    r6, r6, r0          /* a6 */
    ldr     r0, [r1, #32 * (\round) + 4]
    movs    r1, #16
    mov     r11, r6             /* a6 */
    movs    r6, r2
    rors    r6, r6, r1          /* w0 */
    mov     r12, r5             /* a5 */
    lsrs    r5, r6, #4          /* x0 */
    mov     lr, r3              /* a3 */
    ldr     r3, NIBBLES
    ands    r5, r5, r3          /* y0 */
    eors    r5, r5, r2          /* h0 */
    ands    r6, r6, r3          /* z0 */
    str     r2, [sp, #0]        /* a0 */
    mov     r2, r9              /* p4 */
    eors    r4, r4, r2          /* a4 */
    lsls    r2, r6, #4          /* l0 */
    eors    r5, r5, r2          /* u0 */
    mov     r2, r8              /* p1 */
    eors    r2, r2, r0          /* a1 */
    movs    r0, r7
    rors    r0, r0, r1          /* w2 */
    lsrs    r6, r0, #4          /* x2 */
    eors    r5, r5, r7
    ands    r6, r6, r3          /* y2 */
    mov     r8, r5
    mov     r5, lr              /* a3 */
    rors    r5, r5, r1          /* w3 */
    mov     r9, r2              /* a1 */
    lsrs    r2, r5, #4          /* x3 */
    ands    r0, r0, r3          /* z2 */
    eors    r7, r7, r6          /* h2 */
    movs    r6, r4
    rors    r6, r6, r1          /* w4 */
    lsls    r0, r0, #4          /* l2 */
    eors    r7, r7, r0          /* u2 */
    lsrs    r0, r6, #4          /* x4 */
    ands    r6, r6, r3          /* z4 */
    lsls    r6, r6, #4          /* l4 */
    ands    r5, r5, r3          /* z3 */
    ands    r0, r0, r3          /* y4 */
    eors    r0, r0, r4          /* h4 */
    ands    r2, r2, r3          /* y3 */
    eors    r6, r6, r0          /* u4 */
    eors    r4, r4, r7
    mov     r0, lr              /* a3 */
    eors    r2, r2, r0          /* h3 */
    lsls    r5, r5, #4          /* l3 */
    eors    r5, r5, r2          /* u3 */
    mov     r7, r12             /* a5 */
    movs    r2, r7
    rors    r2, r2, r1          /* w5 */
    lsrs    r0, r2, #4          /* x5 */
    ands    r0, r0, r3          /* y5 */
    eors    r5, r5, r7
    eors    r0, r0, r7          /* h5 */
    mov     r7, r10             /* a7 */
    rors    r7, r7, r1          /* w7 */
    ands    r2, r2, r3          /* z5 */
    mov     r12, r4
    lsrs    r4, r7, #4          /* x7 */
    ands    r4, r4, r3          /* y7 */
    ands    r7, r7, r3          /* z7 */
    lsls    r2, r2, #4          /* l5 */
    eors    r0, r0, r2          /* u5 */
    mov     r2, r10             /* a7 */
    eors    r0, r0, r2
    lsls    r7, r7, #4          /* l7 */
    eors    r4, r4, r2          /* h7 */
    mov     r2, r11             /* a6 */
    rors    r2, r2, r1          /* w6 */
    mov     r10, r0
    lsrs    r0, r2, #4          /* x6 */
    eors    r4, r4, r7          /* u7 */
    mov     r7, r9              /* a1 */
    rors    r7, r7, r1          /* w1 */
    ands    r0, r0, r3          /* y6 */
    lsrs    r1, r7, #4          /* x1 */
    ands    r7, r7, r3          /* z1 */
    lsls    r7, r7, #4          /* l1 */
    ands    r2, r2, r3          /* z6 */
    ands    r3, r3, r1          /* y1 */
    mov     r1, r11             /* a6 */
    eors    r6, r6, r1
    lsls    r2, r2, #4          /* l6 */
    eors    r0, r0, r1          /* h6 */
    mov     r1, r9              /* a1 */
    eors    r3, r3, r1          /* h1 */
    eors    r0, r0, r2          /* u6 */
    eors    r3, r3, r7          /* u1 */
    mov     r2, lr              /* a3 */
    eors    r3, r3, r2
    mov     r2, r8
    eors    r2, r2, r4
    eors    r5, r5, r4
    eors    r3, r3, r0
    eors    r4, r4, r0          /* s */
    ldr     r7, [sp, #0]        /* a0 */
    eors    r0, r0, r7
    eors    r1, r1, r4
    mov     r7, r12
    eors    r4, r4, r7
    mov     r7, r10
.endm

.macro add_round_key round
    mov     r8, r7              /* p7 */
    ldr     r7, KEY
    mov     r9, r6              /* p6 */
    ldr     r6, [r7, #32 * (\round)]
    eors    r0, r0, r6          /* a0 */
    ldr     r6, [r7, #32 * (\round) + 4]
    mov     r10, r0             /* a0 */
    ldr     r0, [r7, #32 * (\round) + 8]
    eors    r2, r2, r0          /* a2 */
    ldr     r0, [r7, #32 * (\round) + 12]
    eors    r3, r3, r0          /* a3 */
    ldr     r0, [r7, #32 * (\round) + 16]
    eors    r4, r4, r0          /* a4 */
    ldr     r0, [r7, #32 * (\round) + 20]
    eors    r1, r1, r6          /* a1 */
    eors    r5, r5, r0          /* a5 */
    ldr     r0, [r7, #32 * (\round) + 24]
    mov     r6, r9              /* p6 */
    eors    r6, r6, r0          /* a6 */
    ldr     r0, [r7, #32 * (\round) + 28]
    mov     r7, r8              /* p7 */
    eors    r7, r7, r0          /* a7 */
    mov     r0, r10             /* a0 */
.endm

/* Converts the words of columns, P(2 c + b), to planes or back: transposes the 8 x 8 bits in each
   byte position. */
.macro transpose
    mov     r8, r7              /* p7 */
    lsrs    r7, r2, #1
    eors    r7, r7, r3
    mov     r9, r6              /* p6 */
    ldr     r6, BITS
    ands    r7, r7, r6
    eors    r3, r3, r7
    mov     r10, r3
    lsrs    r3, r0, #1
    eors    r3, r3, r1
    ands    r3, r3, r6
    eors    r1, r1, r3
    lsls    r7, r7, #1
    lsls    r3, r3, #1
    eors    r3, r3, r0
    eors    r7, r7, r2
    lsrs    r0, r4, #1
    eors    r0, r0, r5
    ands    r0, r0, r6
    lsls    r2, r0, #1
    eors    r4, r4, r2
    lsrs    r2, r3, #2
    mov     r11, r4
    mov     r4, r9              /* p6 */
    mov     r12, r1
    lsrs    r1, r4, #1
    mov     r4, r8              /* p7 */
    eors    r1, r1, r4
    ands    r1, r1, r6
    eors    r2, r2, r7
    eors    r4, r4, r1
    eors    r0, r0, r5
    lsrs    r5, r0, #2
    eors    r5, r5, r4
    ldr     r6, PAIRS
    ands    r5, r5, r6
    eors    r4, r4, r5
    lsls    r1, r1, #1
    ands    r2, r2, r6
    mov     r8, r4
    mov     r4, r9              /* p6 */
    eors    r4, r4, r1
    lsls    r1, r2, #2
    eors    r2, r2, r7
    eors    r1, r1, r3
    lsls    r5, r5, #2
    eors    r5, r5, r0
    mov     r0, r12
    lsrs    r3, r0, #2
    mov     r7, r11
    mov     r9, r5
    lsrs    r5, r7, #2
    mov     r7, r10
    eors    r3, r3, r7
    ands    r3, r3, r6
    eors    r5, r5, r4
    ands    r5, r5, r6
    lsrs    r6, r1, #4
    eors    r7, r7, r3
    mov     r10, r1
    lsls    r1, r5, #2
    eors    r5, r5, r4
    lsls    r3, r3, #2
    eors    r3, r3, r0
    mov     r4, r11
    eors    r4, r4, r1
    lsrs    r0, r7, #4
    lsrs    r1, r2, #4
    eors    r1, r1, r5
    mov     r11, r7
    lsrs    r7, r3, #4
    mov     r12, r3
    ldr     r3, NIBBLES
    ands    r1, r1, r3
    eors    r5, r5, r1
    mov     lr, r5
    mov     r5, r9
    eors    r7, r7, r5
    eors    r6, r6, r4
    ands    r6, r6, r3
    lsls    r1, r1, #4
    eors    r4, r4, r6
    ands    r7, r7, r3
    eors    r5, r5, r7
    eors    r2, r2, r1
    lsls    r1, r7, #4
    mov     r7, r8
    eors    r0, r0, r7
    ands    r0, r0, r3
    lsls    r3, r0, #4
    eors    r7, r7, r0
    lsls    r6, r6, #4
    mov     r0, r10
    eors    r0, r0, r6
    mov     r6, r12
    eors    r1, r1, r6
    mov     r6, r11
    eors    r3, r3, r6
    mov     r6, lr
.endm

/* Reorders words for the omitted ShiftRows, or back: where these add up to two rotations, rows 1
   and 3 of columns c and c + 2 are swapped; where to four, nothing is. */
.macro restore_rows
    .if AES_ROUNDS % 4 == 2
    mov     r8, r2              /* p2 */
    eors    r2, r2, r6
    mov     r9, r1              /* p1 */
    ldr     r1, ODD_ROWS
    ands    r2, r2, r1
    eors    r6, r6, r2
    mov     r10, r6
    mov     r6, r8              /* p2 */
    eors    r2, r2, r6
    movs    r6, r4
    eors    r6, r6, r0
    ands    r6, r6, r1
    eors    r0, r0, r6
    eors    r4, r4, r6
    movs    r6, r3
    eors    r6, r6, r7
    ands    r6, r6, r1
    eors    r3, r3, r6
    eors    r7, r7, r6
    mov     r6, r9              /* p1 */
    eors    r6, r6, r5
    ands    r6, r6, r1
    mov     r1, r9              /* p1 */
    eors    r1, r1, r6
    eors    r5, r5, r6
    mov     r6, r10
    .endif
.endm

.macro enter_frame
    push    {r4-r7, lr}
    mov     r4, r8
    mov     r5, r9
    mov     r6, r10
    mov     r7, r11
    push    {r4-r7}
    sub     sp, #FRAME
    ldr     r4, =.Lmasks
    add     r7, sp, #48
    ldmia   r4!, {r5, r6}
    stmia   r7!, {r5, r6}
    ldmia   r4!, {r5, r6}
    stmia   r7!, {r5, r6}
    ldmia   r4!, {r5, r6}
    stmia   r7!, {r5, r6}
    b       .Lentered\@
    .p2align 2
    .ltorg
.Lentered\@:
.endm

/* Clears what held secrets: registers that the caller does not preserve, the macros' words, the
   buffer. */
.macro leave_frame
    mov     r0, sp
    movs    r1, #0
    movs    r2, #0
    movs    r3, #0
    .rept   4
    stmia   r0!, {r1-r3}
    .endr
    add     r0, sp, #BUFFER
    stmia   r0!, {r1-r3}
    stmia   r0!, {r1-r3}
    stmia   r0!, {r1, r2}
    mov     r12, r1
    add     sp, #FRAME
    pop     {r4-r7}
    mov     r8, r4
    mov     r9, r5
    mov     r10, r6
    mov     r11, r7
    movs    r0, #0
    pop     {r4-r7, pc}
.endm

/* Sets the flags by KEY - CTX - \bytes, and keeps the planes. */
.macro compare_key bytes
    mov     r8, r0
    mov     r9, r1
    ldr     r0, KEY
    ldr     r1, CTX
    subs    r0, r0, r1
    .if     (\bytes) < 0
    adds    r0, #-(\bytes)
    .elseif (\bytes) > 255
    subs    r0, #255
    subs    r0, #(\bytes) - 255
    .else
    subs    r0, #(\bytes)
    .endif
    mov     r0, r8
    mov     r1, r9
.endm

/* KEY += 128, or -= 128. */
.macro next_keys operation
    mov     r8, r0
    ldr     r0, KEY
    \operation r0, #128
    str     r0, KEY
    mov     r0, r8
.endm

/* Loads the words of two blocks at IN, or of one block twice. */
.macro load_blocks
    ldr     r6, IN
    ldr     r5, BLOCKS
    movs    r4, #16
    cmp     r5, #1
    bne     .Ltwo\@
    movs    r4, #0
.Ltwo\@:
    movs    r5, r6
    adds    r5, #32
    str     r5, IN
    lsls    r5, r6, #30
    beq     .Laligned\@
    add     r7, sp, #BUFFER
    movs    r5, r4
    adds    r5, #16
.Lcopy\@:
    subs    r5, #1
    ldrb    r3, [r6, r5]
    strb    r3, [r7, r5]
    bne     .Lcopy\@
    movs    r6, r7
.Laligned\@:
    adds    r7, r6, r4
    ldr     r0, [r6]
    ldr     r1, [r7]
    ldr     r2, [r6, #4]
    ldr     r3, [r7, #4]
    ldr     r4, [r6, #8]
    ldr     r5, [r7, #8]
    ldr     r6, [r6, #12]
    ldr     r7, [r7, #12]
.endm

/* Sets the flags for the loop: whether blocks remain. */
.macro store_blocks
    mov     r8, r4
    mov     r9, r5
    mov     r10, r6
    mov     r11, r7
    ldr     r6, OUT
    ldr     r5, BLOCKS
    movs    r4, #16
    cmp     r5, #1
    bne     .Ltwo\@
    movs    r4, #0
.Ltwo\@:
    movs    r5, r6
    lsls    r5, r5, #30
    beq     .Laligned\@
    add     r6, sp, #BUFFER
.Laligned\@:
    adds    r7, r6, r4
    str     r0, [r6]
    str     r1, [r7]
    str     r2, [r6, #4]
    str     r3, [r7, #4]
    mov     r0, r8
    mov     r1, r9
    mov     r2, r10
    mov     r3, r11
    str     r0, [r6, #8]
    str     r1, [r7, #8]
    str     r2, [r6, #12]
    str     r3, [r7, #12]
    ldr     r7, OUT
    cmp     r6, r7
    beq     .Lstored\@
    adds    r4, #16
.Lcopy\@:
    subs    r4, #1
    ldrb    r3, [r6, r4]
    strb    r3, [r7, r4]
    bne     .Lcopy\@
.Lstored\@:
    adds    r7, #32
    str     r7, OUT
    ldr     r5, BLOCKS
    subs    r5, #2
    str     r5, BLOCKS
.endm

.macro enter_blocks
    cmp     r3, #0
    bne     .Lany\@
    bx      lr
.Lany\@:
    enter_frame
    str     r0, CTX
    str     r1, OUT
    str     r2, IN
    str     r3, BLOCKS
.endm

/* void aes_encrypt(const aes_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) */
    .section .text.aes_encrypt, "ax", %progbits
    .global aes_encrypt
    .type aes_encrypt, %function
    .p2align 2
    .thumb_func
aes_encrypt:
    enter_blocks
.Lencrypt:
    ldr     r0, CTX
    str     r0, KEY
    load_blocks
    transpose
.Lencrypt_rounds:
    add_key_and_sub_bytes 0
    mix_columns_odd MASK_1, 2
    add_key_and_sub_bytes 1
    .if AES_ROUNDS % 4 == 2
    compare_key 32 * (AES_ROUNDS - 2)
    bne     1f
    bl      .Lencrypted
1:
    .endif
    mix_columns_2
    add_key_and_sub_bytes 2
    mix_columns_odd MASK_3, 6
    add_key_and_sub_bytes 3
    .if AES_ROUNDS % 4 == 0
    compare_key 32 * (AES_ROUNDS - 4)
    bne     1f
    bl      .Lencrypted
1:
    .endif
    mix_columns_0
    next_keys adds
    bl      .Lencrypt_rounds
.Lencrypted:
    .if AES_ROUNDS % 4 == 2
    add_round_key 2
    .else
    next_keys adds
    add_round_key 0
    .endif
    transpose
    restore_rows
    store_blocks
    ble     1f
    bl      .Lencrypt
1:  leave_frame
    .size aes_encrypt, . - aes_encrypt

/* void aes_decrypt(const aes_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) */
    .section .text.aes_decrypt, "ax", %progbits
    .global aes_decrypt
    .type aes_decrypt, %function
    .p2align 2
    .thumb_func
aes_decrypt:
    enter_blocks
.Ldecrypt:
    ldr     r0, CTX
    movs    r1, #4 * AES_ROUNDS
    lsls    r1, r1, #3
    adds    r0, r0, r1
    str     r0, KEY
    load_blocks
    restore_rows
    transpose
    add_round_key 0
    next_keys subs
    inverse_sub_bytes
    .if AES_ROUNDS % 4 == 0
    mov     r8, r0
    ldr     r0, KEY
    adds    r0, #64
    str     r0, KEY
    mov     r0, r8
    bl      .Ldecrypt_from_3
    .endif
.Ldecrypt_rounds:
    add_key_and_4u_odd 3
    mix_columns_odd MASK_1, 2
    inverse_sub_bytes
    compare_key -64
    bne     1f
    bl      .Ldecrypted
1:
    add_key_and_4u_even 2
    mix_columns_0
    inverse_sub_bytes
.Ldecrypt_from_3:
    add_key_and_4u_odd 1
    mix_columns_odd MASK_3, 6
    inverse_sub_bytes
    add_key_and_4u_even 0
    mix_columns_2
    inverse_sub_bytes
    next_keys subs
    bl      .Ldecrypt_rounds
.Ldecrypted:
    add_round_key 2
    transpose
    store_blocks
    ble     1f
    bl      .Ldecrypt
1:  leave_frame
    .size aes_decrypt, . - aes_decrypt

.macro load_planes
    str     r0, OUT
    ldr     r1, [r0, #4]
    ldr     r2, [r0, #8]
    ldr     r3, [r0, #12]
    ldr     r4, [r0, #16]
    ldr     r5, [r0, #20]
    ldr     r6, [r0, #24]
    ldr     r7, [r0, #28]
    ldr     r0, [r0]
.endm

.macro store_planes
    mov     r8, r7
    ldr     r7, OUT
    stmia   r7!, {r0-r6}
    mov     r6, r8
    str     r6, [r7]
.endm

/* void aes_sub_planes(uint32_t planes[8]) */
    .section .text.aes_sub_planes, "ax", %progbits
    .global aes_sub_planes
    .type aes_sub_planes, %function
    .p2align 2
    .thumb_func
aes_sub_planes:
    enter_frame
    ldr     r1, =.Lno_key
    b       1f
    .p2align 2
    .ltorg
1:  str     r1, KEY
    load_planes
    add_key_and_sub_bytes 0
    store_planes
    leave_frame
    .size aes_sub_planes, . - aes_sub_planes

/* void aes_transpose(uint32_t planes[8]) */
    .section .text.aes_transpose, "ax", %progbits
    .global aes_transpose
    .type aes_transpose, %function
    .p2align 2
    .thumb_func
aes_transpose:
    enter_frame
    load_planes
    transpose
    store_planes
    leave_frame
    .size aes_transpose, . - aes_transpose

    .section .rodata.aes_masks, "a", %progbits
    .p2align 2
.Lmasks:
    .word   0x03030303, 0x0f0f0f0f, 0x3f3f3f3f, 0x55555555, 0x33333333, 0xff00ff00
.Lno_key:
    .word   0, 0, 0, 0, 0, 0, 0, 0
