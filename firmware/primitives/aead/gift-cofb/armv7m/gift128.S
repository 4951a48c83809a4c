/* Fixsliced GIFT-128, as in fixslice/gift_cofb.c. A rotation of a whole word is deferred to the
   next instruction that uses the word. Word 0 of a round arrives inverted, as does the word 3 made
   from it, until the constant is added; the table therefore holds inverted constants. */
    .syntax unified
    .thumb

#define A r0
#define B r1
#define C r2
#define D r3
#define KEY r4
#define CONSTANT r5
#define MASK r6
#define T r7
#define X r8
#define Y r9
#define Z0 r10
#define Z1 r12
#define Z2 lr
#define END r11

/* SubCells, where a is inverted and still has to be rotated right by `turned`. Leaves the new word
   0, inverted, in d and the new word 3, inverted, in a. */
.macro sub_cells a, b, c, d, turned
    bic     T, \c, \a, ror #\turned
    eors    \b, T
    and     T, \b, \d
    eor     \a, T, \a, ror #\turned
    orn     T, \b, \a
    eors    \c, T
    eors    \d, \c
    eors    \b, \d
    bic     T, \b, \a
    eors    \c, T
.endm

/* Rotates fields of `width` bits right by n, except for a rotation of the whole word by n; low
   masks the n lowest bits of each field. */
.macro turn_fields x, width, low
    and     T, \x, #\low
    eors    \x, T
    orr     \x, \x, T, ror #(32 - \width)
.endm

/* The same with a mask of the other bits of each field. */
.macro turn_fields_by_high x, width, high
    and     T, \x, #\high
    eors    \x, T
    orr     \x, T, \x, ror #(32 - \width)
.endm

/* Swaps adjacent bits, with MASK shifted left by `by`. */
.macro swap_neighbours x, by
    eor     T, \x, \x, lsr #1
    and     T, T, MASK, lsl #\by
    eors    \x, T
    eor     \x, \x, T, lsl #1
.endm

/* AddRoundKey, with rotations of words 1 and 2 still pending; a is word 3. Constants are loaded in
   threes: where they share a flash with the code, each access to the table evicts the code from the
   line buffer. */
.macro add_round_key number, a, b, c, turned_b, turned_c
    ldr     X, [KEY], #4
    ldr     Y, [KEY], #4
    .if     (\number) == 9
    ldr     Z0, [CONSTANT], #4
    .elseif (\number) % 3 == 0
    ldr     Z0, [CONSTANT], #12
    ldr     Z1, [CONSTANT, #-8]
    ldr     Z2, [CONSTANT, #-4]
    .endif
    eor     \b, X, \b, ror #\turned_b
    eor     \c, Y, \c, ror #\turned_c
    .if     (\number) % 3 == 0
    eor     \a, \a, Z0
    .elseif (\number) % 3 == 1
    eor     \a, \a, Z1
    .else
    eor     \a, \a, Z2
    .endif
.endm

.macro five_rounds number, a, b, c, d
    sub_cells \a, \b, \c, \d, 24
    turn_fields \d, 4, 0x11111111
    turn_fields \b, 4, 0x33333333
    turn_fields \c, 4, 0x77777777
    add_round_key \number, \a, \b, \c, 2, 3
    sub_cells \d, \b, \c, \a, 1
    turn_fields \a, 16, 0x000f000f
    rev16   \b, \b
    turn_fields_by_high \c, 16, 0xf000f000
    add_round_key \number + 1, \d, \b, \c, 0, 12
    sub_cells \a, \b, \c, \d, 4
    swap_neighbours \d, 0
    turn_fields \b, 2, 0x55555555
    swap_neighbours \c, 16
    add_round_key \number + 2, \a, \b, \c, 1, 16
    sub_cells \d, \b, \c, \a, 16
    turn_fields \a, 8, 0x3f3f3f3f
    turn_fields \b, 8, 0x0f0f0f0f
    turn_fields \c, 8, 0x03030303
    add_round_key \number + 3, \d, \b, \c, 4, 2
    sub_cells \a, \b, \c, \d, 6
    add_round_key \number + 4, \a, \b, \c, 16, 8
.endm

    .section .text.gift_cofb_block, "ax", %progbits
    .global gift_cofb_block
    .type   gift_cofb_block, %function
    .thumb_func
    .p2align 2
/* void gift_cofb_block(const uint32_t round_keys[40][2], uint32_t block[4]) */
gift_cofb_block:
    push    {r1, r4-r11, lr}
    mov     KEY, r0
    movw    CONSTANT, #:lower16:.Lconstants
    movt    CONSTANT, #:upper16:.Lconstants
    add     END, CONSTANT, #160
    movw    MASK, #0x5555
    ldm     r1, {A, B, C, D}
    mvn     A, A, ror #8 /* the state in which a round leaves it */
    .p2align 2
1:
    five_rounds 0, A, B, C, D
    five_rounds 5, D, B, C, A
    cmp     CONSTANT, END
    bne.w   1b
    pop     {r12}
    mvn     A, A, ror #24
    stm     r12, {A, B, C, D}
    pop     {r4-r11, pc}
    .size   gift_cofb_block, . - gift_cofb_block

    .section .rodata.gift_cofb_constants, "a", %progbits
    .p2align 2
.Lconstants:
    .word   0xeffffff7, 0x7ffe7fff, 0xabfffffd, 0xfefefe7e, 0x7fffffe0
    .word   0xef77777f, 0x9ffe1fff, 0xaeaffffd, 0xfcfcfe7f, 0x7fffffd0
    .word   0xeff7777f, 0x9ffe9fff, 0xbeaffffd, 0xfcfcff7f, 0x7fffffd8
    .word   0xefff777f, 0xbffe1fff, 0xeeaffffd, 0xfcfdfe7f, 0x7fffffd4
    .word   0xeff7f77f, 0x9ffebfff, 0xfebffffd, 0xfdfdff7f, 0x7fffffde
    .word   0xefffff7f, 0xfffe3fff, 0xaefffffd, 0xfcfefe7f, 0x7fffffd1
    .word   0xeff777ff, 0x9ffedfff, 0xbfaffffd, 0xfefcff7f, 0x7ffffff9
    .word   0xefff77f7, 0x3ffe5fff, 0xebaffffd, 0xfefdfe7e, 0x7fffffe5
