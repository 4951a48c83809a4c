/* Xoodoo[12], with the specification's names: theta, rho west, iota, chi, rho east. Six registers
   hold a column; the planes stay in memory. A word of plane 2 returns to its place and a word of
   plane 1 goes to a second copy, so that after two rounds all are in their places. */

#include "msp430-rotate.inc"

#define STATE r12
#define CONSTANT r13
#define T r14
#define U r15

#define A r5, r4
#define B r7, r6
#define C r9, r8
#define E r11, r10

/* The frame: theta's effect on each column, plane 1 after odd rounds, remaining rounds. */
#define EFFECT 0
#define PLANE_1 16
#define ROUNDS 32
#define FRAME_BYTES 34

.macro get h, l, offset, base
    mov \offset(\base), \l
    mov \offset+2(\base), \h
.endm

.macro put h, l, offset, base
    mov \l, \offset(\base)
    mov \h, \offset+2(\base)
.endm

.macro with h, l, mh, ml
    xor \ml, \l
    xor \mh, \h
.endm

/* theta: E = (p <<< 5) ^ (p <<< 14) of a column's parity p is added to the next column. Left by 14
   is right by 2 with the halves swapped. */
.macro theta next, a, b, b_base, c
    get A, \a, STATE
    xor \b(\b_base), r4
    xor \b+2(\b_base), r5
    xor \c(STATE), r4
    xor \c+2(STATE), r5
    mov r4, r6
    mov r5, r7
    .rept 5
    rotl1 A
    .endr
    rotr1 r6, r7
    rotr1 r6, r7
    with A, r6, r7
    put A, EFFECT+\next, sp
.endm

/* chi of half a column. With a' = a ^ ~b c, b ~a' equals b ~a. */
.macro chi a, b, c
    mov \c, T
    bic \b, T
    mov \a, U
    bic \c, U
    xor T, \a
    mov \b, T
    bic \a, T
    xor U, \b
    xor T, \c
.endm

/* A column after theta's effect. The word of plane 1 comes from the previous column, whose effect E
   holds. */
.macro column x, b_from, b_from_base, b_to, b_to_base, c, iota
    get B, \b_from, \b_from_base
    with B, E
    get E, EFFECT+4*\x, sp
    get A, 4*\x, STATE
    with A, E
    .if \iota
    xor @CONSTANT+, r4
    .endif
    get C, \c, STATE
    with C, E
    rotl8 C, T
    .rept 3
    rotl1 C
    .endr
    chi r4, r6, r8
    chi r5, r7, r9
    put A, 4*\x, STATE
    rotl1 B
    put B, \b_to, \b_to_base
    rotl8 C, T
    put C, \c, STATE
.endm

/* A round: plane 1 is read from `from` and written to `to`; c0 to c3 are the places of plane 2. */
.macro round from, from_base, to, to_base, c0, c1, c2, c3
    theta 4, 0, \from, \from_base, \c0
    theta 8, 4, \from+4, \from_base, \c1
    theta 12, 8, \from+8, \from_base, \c2
    theta 0, 12, \from+12, \from_base, \c3
    get E, EFFECT+12, sp
    column 0, \from+12, \from_base, \to, \to_base, \c0, 1
    column 1, \from, \from_base, \to+4, \to_base, \c1, 0
    column 2, \from+4, \from_base, \to+8, \to_base, \c2, 0
    column 3, \from+8, \from_base, \to+12, \to_base, \c3, 0
.endm

    .section .text.xoodyak_xoodoo, "ax", @progbits
    .global xoodyak_xoodoo
    .type xoodyak_xoodoo, @function
    .p2align 1
/* void xoodyak_xoodoo(uint8_t state[48]) */
xoodyak_xoodoo:
    push r4
    push r5
    push r6
    push r7
    push r8
    push r9
    push r10
    sub #FRAME_BYTES, sp
    mov #6, ROUNDS(sp)
    mov #.Lconstants, CONSTANT
.Ltwo_rounds:
    round 16, STATE, PLANE_1, sp, 32, 36, 40, 44
    round PLANE_1, sp, 16, STATE, 40, 44, 32, 36
    dec ROUNDS(sp)
    jz .Ldone
    br #.Ltwo_rounds
.Ldone:
    .irp half, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
    clr \half(sp)
    .endr
    add #FRAME_BYTES, sp
    pop r10
    pop r9
    pop r8
    pop r7
    pop r6
    pop r5
    pop r4
    ret
    .size xoodyak_xoodoo, . - xoodyak_xoodoo

    .section .rodata.xoodyak_constants, "a", @progbits
    .p2align 1
.Lconstants:
    .short 0x058, 0x038, 0x3c0, 0x0d0, 0x120, 0x014, 0x060, 0x02c, 0x380, 0x0f0, 0x1a0, 0x012
