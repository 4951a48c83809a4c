/* Keccak-p[400] of FIPS 202, section 3.3, one row at a time, from one state to another.

   A 16-bit lane is stored twice in its word, so that rotating the word rotates the lane. No
   instruction merely rotates: each word of the state is stored rotated by an amount that depends
   only on its position (listed in ketje.c), and the instructions that read it rotate it back. The
   amounts are chosen so that a round leaves its result rotated as it found its input.

   r2 to r6 hold the words of a row, or column parities; r7 to r11 the D of the columns. All
   instructions are 32 bits wide and aligned, because mixed widths would stall on fetches. */
    .syntax unified
    .thumb

#define FROM r0
#define TO r1
#define CONSTANT lr

.macro load register, x, y
    ldr.w   \register, [FROM, #4 * (\x + 5 * \y)]
.endm

.macro store register, x, y
    str.w   \register, [TO, #4 * (\x + 5 * \y)]
.endm

    .section .text.keccak_p400_rounds, "ax", %progbits
    .global keccak_p400_rounds
    .type   keccak_p400_rounds, %function
    .thumb_func
    .p2align 2
/* void keccak_p400_rounds(const uint32_t from[25], uint32_t to[25], unsigned rounds)

   Runs the last `rounds` of the 20 rounds, alternating between the two states. */
keccak_p400_rounds:
    push    {r4-r11, lr}
    movw    r3, #:lower16:.Lconstants_end
    movt    r3, #:upper16:.Lconstants_end
    sub     CONSTANT, r3, r2, lsl #2
    push    {r3}
    .p2align 2
.Lround:
    /* theta: the parity of each column, then D. */
    load    r2, 0, 1
    load    r7, 0, 0
    load    r8, 0, 2
    load    r9, 0, 3
    load    r10, 0, 4
    load    r3, 1, 1
    load    r11, 1, 0
    load    r12, 1, 2
    load    r4, 1, 3
    load    r5, 1, 4
    eor     r2, r2, r7, ror #4
    eor     r2, r2, r8, ror #15
    eor     r2, r2, r9, ror #8
    eor     r2, r2, r10, ror #1
    eor     r3, r3, r11, ror #5
    eor     r3, r3, r12, ror #10
    eor     r3, r3, r4, ror #1
    eor     r3, r3, r5, ror #6
    load    r4, 2, 4
    load    r7, 2, 0
    load    r8, 2, 1
    load    r9, 2, 2
    load    r10, 2, 3
    load    r5, 3, 1
    load    r11, 3, 0
    load    r12, 3, 2
    load    r6, 3, 3
    eor     r4, r4, r7, ror #8
    eor     r4, r4, r8, ror #5
    eor     r4, r4, r9, ror #7
    eor     r4, r4, r10, ror #10
    eor     r5, r5, r11, ror #4
    eor     r5, r5, r12, ror #8
    eor     r5, r5, r6, ror #13
    load    r7, 3, 4
    load    r6, 4, 3
    load    r8, 4, 0
    load    r9, 4, 1
    load    r10, 4, 2
    load    r11, 4, 4
    eor     r5, r5, r7, ror #8
    eor     r6, r6, r8, ror #1
    eor     r6, r6, r9, ror #14
    eor     r6, r6, r10, ror #14
    eor     r6, r6, r11, ror #10
    eor     r7, r6, r3, ror #10
    eor     r8, r2, r4, ror #11
    eor     r9, r3, r5, ror #3
    eor     r10, r4, r6, ror #7
    eor     r11, r5, r2, ror #12
    /* Row 0. */
    load    r2, 0, 0
    load    r3, 1, 1
    load    r4, 2, 2
    load    r5, 3, 3
    load    r6, 4, 4
    eor     r2, r7, r2
    eor     r3, r8, r3, ror #15
    eor     r4, r9, r4, ror #4
    eor     r5, r10, r5, ror #4
    eor     r6, r11, r6, ror #11
    bic     r12, r5, r4, ror #13
    eor     r12, r3, r12, ror #3
    store   r12, 1, 0
    bic     r12, r6, r5, ror #2
    eor     r12, r4, r12, ror #1
    store   r12, 2, 0
    bic     r12, r2, r6, ror #1
    eor     r12, r5, r12, ror #13
    store   r12, 3, 0
    bic     r12, r3, r2
    eor     r12, r6, r12, ror #15
    store   r12, 4, 0
    ldr.w   r5, [lr], #4 /* iota */
    bic     r12, r4, r3
    eor     r12, r2, r12
    eor     r12, r12, r5
    /* Row 1. */
    load    r2, 3, 0
    load    r3, 4, 1
    load    r4, 0, 2
    load    r5, 1, 3
    load    r6, 2, 4
    store   r12, 0, 0
    eor     r2, r10, r2, ror #11
    eor     r3, r11, r3, ror #15
    eor     r4, r7, r4, ror #11
    eor     r5, r8, r5
    eor     r6, r9, r6, ror #13
    bic     r12, r4, r3, ror #14
    eor     r12, r2, r12, ror #1
    store   r12, 0, 1
    bic     r12, r5, r4, ror #14
    eor     r12, r3, r12, ror #4
    store   r12, 1, 1
    bic     r12, r6, r5, ror #1
    eor     r12, r4, r12, ror #1
    store   r12, 2, 1
    bic     r12, r2, r6, ror #2
    eor     r12, r5, r12, ror #13
    store   r12, 3, 1
    bic     r12, r3, r2, ror #1
    eor     r12, r6, r12, ror #13
    /* Row 2. */
    load    r2, 1, 0
    load    r3, 2, 1
    load    r4, 3, 2
    load    r5, 4, 3
    load    r6, 0, 4
    store   r12, 4, 1
    eor     r2, r8, r2, ror #4
    eor     r3, r9, r3, ror #2
    eor     r4, r10, r4, ror #15
    eor     r5, r11, r5, ror #1
    eor     r6, r7, r6, ror #13
    bic     r12, r4, r3, ror #6
    eor     r12, r2, r12, ror #4
    store   r12, 0, 2
    bic     r12, r5, r4, ror #8
    eor     r12, r3, r12, ror #2
    store   r12, 1, 2
    bic     r12, r6, r5, ror #9
    eor     r12, r4, r12, ror #15
    store   r12, 2, 2
    bic     r12, r2, r6, ror #3
    eor     r12, r5, r12, ror #4
    store   r12, 3, 2
    bic     r12, r3, r2, ror #6
    eor     r12, r6, r12, ror #7
    /* Row 3. */
    load    r2, 4, 0
    load    r3, 0, 1
    load    r4, 1, 2
    load    r5, 2, 3
    load    r6, 3, 4
    store   r12, 4, 2
    eor     r2, r11, r2, ror #2
    eor     r3, r7, r3, ror #12
    eor     r4, r8, r4, ror #9
    eor     r5, r9, r5, ror #7
    eor     r6, r10, r6, ror #15
    bic     r12, r4, r3, ror #10
    eor     r12, r2, r12, ror #14
    store   r12, 0, 3
    bic     r12, r5, r4, ror #6
    eor     r12, r3, r12
    store   r12, 1, 3
    bic     r12, r6, r5, ror #12
    eor     r12, r4, r12, ror #14
    store   r12, 2, 3
    bic     r12, r2, r6, ror #12
    eor     r12, r5, r12, ror #8
    store   r12, 3, 3
    bic     r12, r3, r2, ror #8
    eor     r12, r6, r12, ror #12
    /* Row 4. */
    load    r2, 2, 0
    load    r3, 3, 1
    load    r4, 4, 2
    load    r5, 0, 3
    load    r6, 1, 4
    store   r12, 4, 3
    eor     r2, r9, r2, ror #5
    eor     r3, r10, r3, ror #7
    eor     r4, r11, r4, ror #15
    eor     r5, r7, r5, ror #4
    eor     r6, r8, r6, ror #5
    bic     r12, r4, r3, ror #9
    eor     r12, r2, r12, ror #11
    store   r12, 0, 4
    bic     r12, r5, r4, ror #1
    eor     r12, r3, r12, ror #6
    store   r12, 1, 4
    bic     r12, r6, r5, ror #13
    eor     r12, r4, r12, ror #2
    store   r12, 2, 4
    bic     r12, r2, r6, ror #13
    eor     r12, r5, r12, ror #6
    store   r12, 3, 4
    bic     r12, r3, r2, ror #12
    eor     r12, r6, r12, ror #7
    store   r12, 4, 4
    mov.w   r12, FROM
    mov.w   FROM, TO
    mov.w   TO, r12
    ldr.w   r2, [sp]
    cmp     CONSTANT, r2
    bne.w   .Lround
    pop     {r3-r11, pc}
    .size   keccak_p400_rounds, . - keccak_p400_rounds

    .section .rodata.keccak_p400_rounds, "a", %progbits
    .p2align 2
/* RC[i] of iota, truncated to 16 bits (FIPS 202, algorithm 5), for the 20 rounds of
   Keccak-f[400]. */
.Lconstants:
    .word 0x00010001, 0x80828082, 0x808a808a, 0x80008000, 0x808b808b
    .word 0x00010001, 0x80818081, 0x80098009, 0x008a008a, 0x00880088
    .word 0x80098009, 0x000a000a, 0x808b808b, 0x008b008b, 0x80898089
    .word 0x80038003, 0x80028002, 0x00800080, 0x800a800a, 0x000a000a
.Lconstants_end:
