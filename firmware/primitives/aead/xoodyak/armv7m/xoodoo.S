/* Xoodoo[12], with the specification's names: theta, rho west, iota, chi, rho east. The twelve
   words stay in registers. Words of plane 0 have their true values. Words of the other planes move
   within their plane by renaming and are kept unrotated: the next instruction that uses one rotates
   it. */
    .syntax unified
    .thumb

#define A0 r0
#define A1 r1
#define A2 r2
#define A3 r3
#define B0 r4
#define B1 r5
#define B2 r6
#define B3 r7
#define C0 r8
#define C1 r9
#define C2 r10
#define C3 r11
#define T r12
#define U lr

/* op d, n, m with m rotated left by an expression. */
.macro left op, d, n, m, by
    .if     (\by) & 31
    \op     \d, \n, \m, ror #(32 - (\by)) & 31
    .else
    \op     \d, \n, \m
    .endif
.endm

/* Before round k, words of plane 1 have k bits of rotation pending, and those of plane 2 have 19 k.
   Computes theta's E = (p <<< 5) ^ (p <<< 14) of a column, except for the rotation by 5. */
.macro effect k, e, a, b, c
    left    eor, \e, \a, \b, \k
    left    eor, \e, \e, \c, 19 * \k
    left    eor, \e, \e, \e, 9
.endm

.macro add_effect k, e, a, b, c
    left    eor, \a, \a, \e, 5
    left    eor, \b, \b, \e, 5 - \k
    left    eor, \c, \c, \e, 5 - 19 * \k
.endm

/* chi. With a' = a ^ ~b c, b ~a' equals b ~a. */
.macro chi k, a, b, c
    left    bic, T, \c, \b, \k - (19 * \k + 11)
    left    bic, U, \a, \c, 19 * \k + 11
    left    eor, \a, \a, T, 19 * \k + 11
    left    bic, T, \b, \a, -\k
    left    eor, \b, \b, U, -\k
    left    eor, \c, \c, T, \k - (19 * \k + 11)
.endm

.macro round k, constant, b0, b1, b2, b3, c0, c1, c2, c3
    effect  \k, T, A3, \b3, \c3
    effect  \k, U, A0, \b0, \c0
    add_effect \k, T, A0, \b0, \c0
    effect  \k, T, A1, \b1, \c1
    add_effect \k, U, A1, \b1, \c1
    effect  \k, U, A2, \b2, \c2
    add_effect \k, T, A2, \b2, \c2
    add_effect \k, U, A3, \b3, \c3
    eor     A0, A0, #\constant
    chi     \k, A0, \b3, \c0
    chi     \k, A1, \b0, \c1
    chi     \k, A2, \b1, \c2
    chi     \k, A3, \b2, \c3
.endm

/* Twelve rounds, after which all words have their true values. */
.macro xoodoo
    round   0, 0x058, B0, B1, B2, B3, C0, C1, C2, C3
    round   1, 0x038, B3, B0, B1, B2, C2, C3, C0, C1
    round   2, 0x3c0, B2, B3, B0, B1, C0, C1, C2, C3
    round   3, 0x0d0, B1, B2, B3, B0, C2, C3, C0, C1
    round   4, 0x120, B0, B1, B2, B3, C0, C1, C2, C3
    round   5, 0x014, B3, B0, B1, B2, C2, C3, C0, C1
    round   6, 0x060, B2, B3, B0, B1, C0, C1, C2, C3
    round   7, 0x02c, B1, B2, B3, B0, C2, C3, C0, C1
    round   8, 0x380, B0, B1, B2, B3, C0, C1, C2, C3
    round   9, 0x0f0, B3, B0, B1, B2, C2, C3, C0, C1
    round   10, 0x1a0, B2, B3, B0, B1, C0, C1, C2, C3
    round   11, 0x012, B1, B2, B3, B0, C2, C3, C0, C1
    .irp    word, B0, B1, B2, B3
    ror     \word, \word, #20
    .endr
    .irp    word, C0, C1, C2, C3
    ror     \word, \word, #28
    .endr
.endm

/* The frame: plane 2 while a block is added and its registers are in use; then output, input, and
   the input's end. */
#define POINTERS 16
#define FRAME 32

/* Half a block: three of its words and of the state's. */
.macro encrypt_words x, y, z
    ldr     r8, [T], #4
    ldr     r9, [T], #4
    ldr     r10, [T], #4
    eor     \x, \x, r8
    eor     \y, \y, r9
    eor     \z, \z, r10
    str     \x, [U], #4
    str     \y, [U], #4
    str     \z, [U], #4
.endm

.macro decrypt_words x, y, z
    ldr     r8, [T], #4
    ldr     r9, [T], #4
    ldr     r10, [T], #4
    eor     \x, \x, r8
    eor     \y, \y, r9
    eor     \z, \z, r10
    str     \x, [U], #4
    str     \y, [U], #4
    str     \z, [U], #4
    mov     \x, r8
    mov     \y, r9
    mov     \z, r10
.endm

/* void NAME(uint8_t state[48], uint8_t *out, const uint8_t *in, size_t blocks)

   For each block: Up, 24 bytes added to the state, Down. Input and output need not be aligned. The
   decrypting version also accepts no blocks and is then Xoodoo[12] alone; a separate copy of the
   rounds would cost 2 KB. */
.macro blocks_of name, words, may_be_none
    .section .text.\name, "ax", %progbits
    .global \name
    .type   \name, %function
    .thumb_func
    .p2align 2
\name:
    push    {r0, r4-r11, lr}
    add     r3, r3, r3, lsl #1
    add     r3, r2, r3, lsl #3
    push    {r1, r2, r3, r4}
    sub     sp, sp, #16
    ldm     r0, {r0-r11}
    .p2align 2
1:
    xoodoo
    stmia   sp, {r8-r11}
    ldrd    U, T, [sp, #POINTERS]
    .if     \may_be_none
    ldr     r8, [sp, #POINTERS + 8]
    cmp     T, r8
    beq     2f
    .endif
    \words  A0, A1, A2
    \words  A3, B0, B1
    strd    U, T, [sp, #POINTERS]
    eor     B2, B2, #1
    ldr     r8, [sp, #POINTERS + 8]
    cmp     T, r8
2:
    ldmia   sp, {r8-r11}
    bne.w   1b
    ldr     r12, [sp, #FRAME]
    stmia   r12, {r0-r11}
    movs    r0, #0
    movs    r1, #0
    movs    r2, #0
    movs    r3, #0
    stmia   sp, {r0-r3}
    add     sp, sp, #FRAME + 4
    pop     {r4-r11, pc}
    .size   \name, . - \name
.endm

    blocks_of xoodyak_encrypt_blocks, encrypt_words, 0
    blocks_of xoodyak_decrypt_blocks, decrypt_words, 1
