/* Keccak-f[1600] for RISC-V with Zbb, on lanes of even and odd bits; see keccak-f1600-riscv.h. A
   round goes from one state in memory to another, five words at a time; registers hold theta's
   parities of columns C and what it adds to them, D, of column x and half h in number 2 x + h. */
#include "riscv.inc"

#define STATE a0
#define CONSTANT a1
#define T a2
#define B0 a3
#define B1 a4
#define B2 a5
#define B3 a6
#define B4 a7
#define C0 t0
#define C1 t1
#define C2 t2
#define C3 t3
#define C4 t4
#define C5 t5
#define C6 t6
#define C7 s0
#define C8 s1
#define C9 s2
#define D0 s3
#define D1 s4
#define D2 s5
#define D3 s6
#define D4 s7
#define D5 s8
#define D6 s9
#define D7 s10
#define D8 s11
#define D9 ra
#define SAVED s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, ra

/* The frame: the other state, the saved registers. */
#define STATE_BYTES 200
#define FRAME 256

/* The parity of a column's half. */
.macro parity c, number
    lw      \c, 4 * (\number)(STATE)
    lw      B0, 4 * (\number + 10)(STATE)
    lw      B1, 4 * (\number + 20)(STATE)
    lw      B2, 4 * (\number + 30)(STATE)
    lw      B3, 4 * (\number + 40)(STATE)
    xor     \c, \c, B0
    xor     \c, \c, B1
    xor     \c, \c, B2
    xor     \c, \c, B3
.endm

/* What theta adds to a column: the one before it, and the one behind it rotated by 1. */
.macro add_columns even, odd, before_even, before_odd, behind_even, behind_odd
    rori    \even, \behind_odd, 31
    xor     \odd, \before_odd, \behind_even
    xor     \even, \even, \before_even
.endm

/* Loads a half of lane (x, y), which rho rotates by n, to the place that pi gives it. From an odd n
   on, even bits were odd ones. */
.macro load_half to, from, x, y, n, half
    lw      \to, 8 * (\x + 5 * (\y)) + 4 * ((\half) ^ (\n) & 1)(\from)
.endm

.macro add_column to, x, n, half
    .if     2 * (\x) + ((\half) ^ (\n) & 1) == 0
    xor     \to, \to, D0
    .elseif 2 * (\x) + ((\half) ^ (\n) & 1) == 1
    xor     \to, \to, D1
    .elseif 2 * (\x) + ((\half) ^ (\n) & 1) == 2
    xor     \to, \to, D2
    .elseif 2 * (\x) + ((\half) ^ (\n) & 1) == 3
    xor     \to, \to, D3
    .elseif 2 * (\x) + ((\half) ^ (\n) & 1) == 4
    xor     \to, \to, D4
    .elseif 2 * (\x) + ((\half) ^ (\n) & 1) == 5
    xor     \to, \to, D5
    .elseif 2 * (\x) + ((\half) ^ (\n) & 1) == 6
    xor     \to, \to, D6
    .elseif 2 * (\x) + ((\half) ^ (\n) & 1) == 7
    xor     \to, \to, D7
    .elseif 2 * (\x) + ((\half) ^ (\n) & 1) == 8
    xor     \to, \to, D8
    .else
    xor     \to, \to, D9
    .endif
.endm

.macro rotate_half to, n, half
    .if     (\n + 1 - (\half)) / 2
    rori    \to, \to, 32 - (\n + 1 - (\half)) / 2
    .endif
.endm

/* chi of a word, stored and added to its column's parity, which the first row begins. */
.macro chi to, y, x, half, a, b, c, parity
    .if     \x + \y == 0 /* iota */
    lw      \parity, 4 * (\half)(CONSTANT)
    andn    T, \c, \b
    xor     T, T, \a
    xor     \parity, \parity, T
    sw      \parity, 4 * (\half)(\to)
    .else
    andn    T, \c, \b
    .if     \y == 0
    xor     \parity, \a, T
    sw      \parity, 8 * (\x) + 4 * (\half)(\to)
    .else
    xor     T, T, \a
    xor     \parity, \parity, T
    sw      T, 8 * (\x + 5 * (\y)) + 4 * (\half)(\to)
    .endif
    .endif
.endm

/* A half of row y, from lanes in columns x0 to x4. */
.macro row from, to, y, half, x0, n0, x1, n1, x2, n2, x3, n3, x4, n4
    load_half B0, \from, \x0, 0, \n0, \half
    load_half B1, \from, \x1, 1, \n1, \half
    load_half B2, \from, \x2, 2, \n2, \half
    load_half B3, \from, \x3, 3, \n3, \half
    load_half B4, \from, \x4, 4, \n4, \half
    add_column B0, \x0, \n0, \half
    add_column B1, \x1, \n1, \half
    add_column B2, \x2, \n2, \half
    add_column B3, \x3, \n3, \half
    add_column B4, \x4, \n4, \half
    rotate_half B0, \n0, \half
    rotate_half B1, \n1, \half
    rotate_half B2, \n2, \half
    rotate_half B3, \n3, \half
    rotate_half B4, \n4, \half
    .if     \half == 0
    chi     \to, \y, 0, 0, B0, B1, B2, C0
    chi     \to, \y, 1, 0, B1, B2, B3, C2
    chi     \to, \y, 2, 0, B2, B3, B4, C4
    chi     \to, \y, 3, 0, B3, B4, B0, C6
    chi     \to, \y, 4, 0, B4, B0, B1, C8
    .else
    chi     \to, \y, 0, 1, B0, B1, B2, C1
    chi     \to, \y, 1, 1, B1, B2, B3, C3
    chi     \to, \y, 2, 1, B2, B3, B4, C5
    chi     \to, \y, 3, 1, B3, B4, B0, C7
    chi     \to, \y, 4, 1, B4, B0, B1, C9
    .endif
.endm

.macro round from, to
    add_columns D0, D1, C8, C9, C2, C3
    add_columns D2, D3, C0, C1, C4, C5
    add_columns D4, D5, C2, C3, C6, C7
    add_columns D6, D7, C4, C5, C8, C9
    add_columns D8, D9, C6, C7, C0, C1
    row     \from, \to, 0, 0, 0, 0, 1, 44, 2, 43, 3, 21, 4, 14
    row     \from, \to, 0, 1, 0, 0, 1, 44, 2, 43, 3, 21, 4, 14
    row     \from, \to, 1, 0, 3, 28, 4, 20, 0, 3, 1, 45, 2, 61
    row     \from, \to, 1, 1, 3, 28, 4, 20, 0, 3, 1, 45, 2, 61
    row     \from, \to, 2, 0, 1, 1, 2, 6, 3, 25, 4, 8, 0, 18
    row     \from, \to, 2, 1, 1, 1, 2, 6, 3, 25, 4, 8, 0, 18
    row     \from, \to, 3, 0, 4, 27, 0, 36, 1, 10, 2, 15, 3, 56
    row     \from, \to, 3, 1, 4, 27, 0, 36, 1, 10, 2, 15, 3, 56
    row     \from, \to, 4, 0, 2, 62, 3, 55, 4, 39, 0, 41, 1, 2
    row     \from, \to, 4, 1, 2, 62, 3, 55, 4, 39, 0, 41, 1, 2
    addi    CONSTANT, CONSTANT, 8
.endm

/* void keccak_f1600(keccak_lane state[25]) */
    .section .text.keccak_f1600, "ax", %progbits
    .global keccak_f1600
    .type   keccak_f1600, %function
    .balign 4
keccak_f1600:
    addi    sp, sp, -FRAME
    save    STATE_BYTES, SAVED
    la      CONSTANT, keccak_constants
    parity  C0, 0
    parity  C1, 1
    parity  C2, 2
    parity  C3, 3
    parity  C4, 4
    parity  C5, 5
    parity  C6, 6
    parity  C7, 7
    parity  C8, 8
    parity  C9, 9
    .balign 4
1:
    round   STATE, sp
    round   sp, STATE
    la      T, keccak_constants + 24 * 8
    beq     CONSTANT, T, 2f
    j       1b
2:
    .set    place, 0
    .rept   STATE_BYTES / 4
    sw      zero, place(sp)
    .set    place, place + 4
    .endr
    restore STATE_BYTES, SAVED
    addi    sp, sp, FRAME
    clear   a2, a3, a4, a5, a6, a7, t0, t1, t2, t3, t4, t5, t6
    ret
    .size   keccak_f1600, . - keccak_f1600

/* Constants of iota (FIPS 202, section 3.2.5): even bits, odd bits. */
    .section .rodata.keccak_constants, "a", %progbits
    .balign 4
keccak_constants:
    .word   0x00000001, 0x00000000, 0x00000000, 0x00000089, 0x00000000, 0x8000008b
    .word   0x00000000, 0x80008080, 0x00000001, 0x0000008b, 0x00000001, 0x00008000
    .word   0x00000001, 0x80008088, 0x00000001, 0x80000082, 0x00000000, 0x0000000b
    .word   0x00000000, 0x0000000a, 0x00000001, 0x00008082, 0x00000000, 0x00008003
    .word   0x00000001, 0x0000808b, 0x00000001, 0x8000000b, 0x00000001, 0x8000008a
    .word   0x00000001, 0x80000081, 0x00000000, 0x80000081, 0x00000000, 0x80000008
    .word   0x00000000, 0x00000083, 0x00000000, 0x80008003, 0x00000001, 0x80008088
    .word   0x00000000, 0x80000088, 0x00000001, 0x00008000, 0x00000000, 0x80008082
