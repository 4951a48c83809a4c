/* Fixsliced GIFT-128, as in fixslice/gift_cofb.c. A word is two registers, high half first. */

#include "msp430-rotate.inc"

#define A r5, r4
#define B r7, r6
#define C r9, r8
#define D r11, r10
#define T r12
#define KEY r14
#define CONSTANT r15

/* Words 1 and 2 with their halves swapped. */
#define B_TURNED r6, r7
#define C_TURNED r8, r9

/* SubCells of one half of each word. */
.macro sub_halves a, b, c, d
    mov \a, T
    and \c, T
    xor T, \b
    mov \b, T
    and \d, T
    xor T, \a
    mov \a, T
    bis \b, T
    xor T, \c
    xor \c, \d
    xor \d, \b
    inv \d
    mov \a, T
    and \b, T
    xor T, \c
.endm

.macro sub_cells ah, al, bh, bl, ch, cl, dh, dl
    sub_halves \ah, \bh, \ch, \dh
    sub_halves \al, \bl, \cl, \dl
.endm

/* AddRoundKey; a is word 3. */
.macro add_round_key ah, al, bh, bl, ch, cl
    xor @KEY+, \bl
    xor @KEY+, \bh
    xor @KEY+, \cl
    xor @KEY+, \ch
    xor @CONSTANT+, \al
    xor @CONSTANT+, \ah
.endm

/* An operation on each half. */
.macro both op, h, l
    \op \h
    \op \l
.endm

/* T = the bits of x in the mask. */
.macro part x, mask
    mov \x, T
    and #\mask, T
    xor T, \x
.endm

/* Right shifts. */
.macro right x, n
    clrc
    rrc \x
    .rept \n - 1
    rra \x
    .endr
.endm

.macro left x, n
    .rept \n
    rla \x
    .endr
.endm

/* 16-bit rotations by one. */
.macro ror16 x
    bit #1, \x
    rrc \x
.endm

.macro rol16 x
    rla \x
    adc \x
.endm

/* Rotate nibbles right. */
.macro nibbles_1 x
    part \x, 0x1111
    right \x, 1
    left T, 3
    bis T, \x
.endm

.macro nibbles_2 x
    part \x, 0x3333
    right \x, 2
    left T, 2
    bis T, \x
.endm

.macro nibbles_3 x
    part \x, 0x8888
    left \x, 1
    right T, 3
    bis T, \x
.endm

/* Rotate halves right. */
.macro half_4 x
    .rept 4
    ror16 \x
    .endr
.endm

.macro half_12 x
    .rept 4
    rol16 \x
    .endr
.endm

/* Rotate bytes right. Bits that leave a byte go to the other one, as the whole half rotates. */
.macro bytes_2 x
    part \x, 0x0303
    right \x, 2
    ror16 T
    ror16 T
    swpb T
    bis T, \x
.endm

.macro bytes_4 x
    part \x, 0x0f0f
    right \x, 4
    left T, 4
    bis T, \x
.endm

.macro bytes_6 x
    part \x, 0xc0c0
    left \x, 2
    rol16 T
    rol16 T
    swpb T
    bis T, \x
.endm

/* Swap adjacent bits. */
.macro neighbours x
    part \x, 0x5555
    right \x, 1
    left T, 1
    bis T, \x
.endm

.macro exchange h, l
    mov \h, T
    mov \l, \h
    mov T, \l
.endm

.macro neighbours_of_low h, l
    neighbours \l
.endm

.macro neighbours_of_high h, l
    neighbours \h
.endm

/* Five rounds, after which b and c have their halves swapped. */
.macro five_rounds a0, a1, b0, b1, c0, c1, d0, d1
    sub_cells \a0, \a1, \b0, \b1, \c0, \c1, \d0, \d1
    both nibbles_1, \d0, \d1
    both nibbles_2, \b0, \b1
    both nibbles_3, \c0, \c1
    add_round_key \a0, \a1, \b0, \b1, \c0, \c1
    sub_cells \d0, \d1, \b0, \b1, \c0, \c1, \a0, \a1
    both half_4, \a0, \a1
    both swpb, \b0, \b1
    both half_12, \c0, \c1
    add_round_key \d0, \d1, \b0, \b1, \c0, \c1
    sub_cells \a0, \a1, \b0, \b1, \c0, \c1, \d0, \d1
    neighbours_of_low \d0, \d1
    exchange \d0, \d1
    both neighbours, \b0, \b1
    neighbours_of_high \c0, \c1
    /* from here on c has its halves swapped */
    add_round_key \a0, \a1, \b0, \b1, \c1, \c0
    sub_cells \d0, \d1, \b0, \b1, \c1, \c0, \a0, \a1
    both bytes_6, \a0, \a1
    both bytes_4, \b0, \b1
    both bytes_2, \c1, \c0
    add_round_key \d0, \d1, \b0, \b1, \c1, \c0
    sub_cells \a0, \a1, \b0, \b1, \c1, \c0, \d0, \d1
    rotl8 \d0, \d1, T
    rotr8 \c1, \c0, T
    /* and so has b */
    add_round_key \a0, \a1, \b1, \b0, \c1, \c0
.endm

    .section .text.gift_cofb_block, "ax", @progbits
    .global gift_cofb_block
    .type gift_cofb_block, @function
    .p2align 1
/* void gift_cofb_block(const uint32_t round_keys[40][2], uint32_t block[4]) */
gift_cofb_block:
    push r4
    push r5
    push r6
    push r7
    push r8
    push r9
    push r10
    push r13
    mov r12, KEY
    mov #.Lconstants, CONSTANT
    mov @r13+, r4
    mov @r13+, r5
    mov @r13+, r6
    mov @r13+, r7
    mov @r13+, r8
    mov @r13+, r9
    mov @r13+, r10
    mov @r13, r11
.Lten_rounds:
    five_rounds A, B, C, D
    five_rounds D, B_TURNED, C_TURNED, A
    cmp #.Lconstants+160, CONSTANT
    jz .Ldone
    br #.Lten_rounds
.Ldone:
    pop r13
    mov r4, 0(r13)
    mov r5, 2(r13)
    mov r6, 4(r13)
    mov r7, 6(r13)
    mov r8, 8(r13)
    mov r9, 10(r13)
    mov r10, 12(r13)
    mov r11, 14(r13)
    pop r10
    pop r9
    pop r8
    pop r7
    pop r6
    pop r5
    pop r4
    ret
    .size gift_cofb_block, . - gift_cofb_block

    .section .rodata.gift_cofb_constants, "a", @progbits
    .p2align 1
.Lconstants:
    .long 0x10000008, 0x80018000, 0x54000002, 0x01010181, 0x8000001f
    .long 0x10888880, 0x6001e000, 0x51500002, 0x03030180, 0x8000002f
    .long 0x10088880, 0x60016000, 0x41500002, 0x03030080, 0x80000027
    .long 0x10008880, 0x4001e000, 0x11500002, 0x03020180, 0x8000002b
    .long 0x10080880, 0x60014000, 0x01400002, 0x02020080, 0x80000021
    .long 0x10000080, 0x0001c000, 0x51000002, 0x03010180, 0x8000002e
    .long 0x10088800, 0x60012000, 0x40500002, 0x01030080, 0x80000006
    .long 0x10008808, 0xc001a000, 0x14500002, 0x01020181, 0x8000001a
