/* Keccak-p[1600, 24] of FIPS 202, section 3.3, one row at a time, from one state to another.

   A lane is two words, its even bits and its odd bits, so that rotating these rotates the lane. No
   instruction merely rotates: each word of the state is stored rotated by an amount that depends
   only on its position (listed in keccak.c), and the instructions that read it rotate it back. The
   amounts are chosen so that a round leaves its result rotated as it found its input.

   r1 to r5 hold the words of a row, r6 to r10 the D of five columns for the bits that the row uses.
   The rows are ordered so that few D change from one to the next; the other D are in the frame. */
    .syntax unified
    .thumb

/* The frame. */
#define OTHER 0 /* the state in every second round */
#define D 200   /* columns 2, 3, 4, 0, 1; the odd bits of column 1 are never stored */
#define FRAME_BYTES 236

.macro load register, base, x, y, odd
    ldr.w   \register, [\base, #8 * (\x + 5 * \y) + 4 * \odd]
.endm

.macro store register, base, x, y, odd
    str.w   \register, [\base, #8 * (\x + 5 * \y) + 4 * \odd]
.endm

.macro load_d register, x, odd
    ldr.w   \register, [sp, #D + 8 * ((\x + 3) % 5) + 4 * \odd]
.endm

.macro store_d register, x, odd
    str.w   \register, [sp, #D + 8 * ((\x + 3) % 5) + 4 * \odd]
.endm

.macro round from, to
    /* C of the even bits; row 3 is still in registers. */
    load    r6, \from, 0, 0, 0
    load    r7, \from, 0, 1, 0
    load    r8, \from, 0, 2, 0
    load    r9, \from, 0, 4, 0
    load    r10, \from, 1, 4, 0
    load    r11, \from, 1, 0, 0
    load    lr, \from, 1, 1, 0
    eor     r1, r6, r1, ror #4
    eor     r1, r1, r7, ror #14
    eor     r1, r1, r8, ror #29
    eor     r1, r1, r9, ror #5
    eor     r2, r10, r2, ror #10
    eor     r2, r2, r11, ror #3
    eor     r2, r2, lr, ror #3
    load    r6, \from, 1, 2, 0
    load    r7, \from, 2, 4, 0
    load    r8, \from, 2, 0, 0
    load    r9, \from, 2, 1, 0
    load    r10, \from, 2, 2, 0
    load    r11, \from, 3, 2, 0
    load    lr, \from, 3, 0, 0
    eor     r2, r2, r6, ror #29
    eor     r3, r7, r3, ror #26
    eor     r3, r3, r8, ror #25
    eor     r3, r3, r9, ror #4
    eor     r3, r3, r10, ror #21
    eor     r4, r11, r4, ror #24
    eor     r4, r4, lr, ror #8
    load    r6, \from, 3, 1, 0
    load    r7, \from, 3, 4, 0
    load    r8, \from, 4, 0, 0
    load    r9, \from, 4, 1, 0
    load    r10, \from, 4, 2, 0
    load    r11, \from, 4, 4, 0
    eor     r4, r4, r6, ror #26
    eor     r4, r4, r7, ror #2
    eor     r5, r5, r8, ror #10
    eor     r5, r5, r9, ror #14
    eor     r5, r5, r10, ror #23
    eor     r5, r5, r11, ror #28
    /* Column 2 of the odd bits, and the D that it completes. */
    load    r6, \from, 2, 4, 1
    load    r7, \from, 2, 0, 1
    load    r8, \from, 2, 1, 1
    load    r10, \from, 2, 2, 1
    load    r11, \from, 2, 3, 1
    eor     r6, r6, r7, ror #17
    eor     r6, r6, r8, ror #1
    eor     r6, r6, r10, ror #18
    eor     r6, r6, r11, ror #27
    eor     r9, r5, r6, ror #30
    store_d r9, 3, 1
    eor     r6, r6, r1, ror #3
    /* Column 4 of the odd bits, and the D that it completes. */
    load    r7, \from, 4, 4, 1
    load    r8, \from, 4, 0, 1
    load    r10, \from, 4, 1, 1
    load    r11, \from, 4, 2, 1
    load    lr, \from, 4, 3, 1
    store_d r6, 1, 0
    eor     r7, r7, r8, ror #14
    eor     r7, r7, r10, ror #9
    eor     r7, r7, r11, ror #30
    eor     r7, r7, lr, ror #7
    eor     r6, r2, r7, ror #25
    store_d r6, 0, 1
    eor     r7, r7, r3, ror #2
    /* Column 1 of the odd bits, and the D that it completes. */
    load    r8, \from, 1, 0, 1
    load    r10, \from, 1, 1, 1
    load    r11, \from, 1, 2, 1
    load    lr, \from, 1, 3, 1
    load    r6, \from, 1, 4, 1
    store_d r7, 3, 0
    eor     r8, r8, r10
    eor     r8, r8, r11, ror #2
    eor     r8, r8, lr, ror #10
    eor     r8, r8, r6, ror #25
    eor     r6, r5, r8, ror #7
    store_d r6, 0, 0
    eor     r8, r4, r8, ror #27
    /* Column 3 of the odd bits, and the D that it completes. */
    load    r5, \from, 3, 0, 1
    load    r7, \from, 3, 1, 1
    load    r10, \from, 3, 2, 1
    load    r11, \from, 3, 3, 1
    load    lr, \from, 3, 4, 1
    store_d r8, 2, 1
    eor     r5, r5, r7, ror #21
    eor     r5, r5, r10, ror #28
    eor     r5, r5, r11, ror #11
    eor     r5, r5, lr, ror #26
    eor     r8, r2, r5, ror #13
    store_d r8, 2, 0
    eor     r5, r5, r1, ror #14
    /* Column 0 of the odd bits, and the D that it completes. */
    load    r1, \from, 0, 1, 1
    load    r2, \from, 0, 0, 1
    load    r11, \from, 0, 2, 1
    load    lr, \from, 0, 3, 1
    load    r7, \from, 0, 4, 1
    store_d r5, 4, 1
    eor     r1, r1, r2, ror #18
    eor     r1, r1, r11, ror #11
    eor     r1, r1, lr, ror #18
    eor     r1, r1, r7, ror #28
    eor     r10, r1, r4, ror #28
    store_d r10, 4, 0
    eor     r7, r3, r1, ror #20
    /* Row 2, even bits. */
    load    r1, \from, 1, 0, 1
    load    r2, \from, 2, 1, 0
    load    r3, \from, 3, 2, 1
    load    r4, \from, 4, 3, 0
    load    r5, \from, 0, 4, 0
    eor     r1, r7, r1, ror #10
    eor     r2, r8, r2, ror #30
    eor     r3, r9, r3, ror #14
    eor     r4, r10, r4, ror #15
    eor     r5, r6, r5, ror #5
    bic     r11, r3, r2, ror #14
    eor     r11, r1, r11, ror #22
    store   r11, \to, 0, 2, 0
    bic     r11, r4, r3, ror #6
    eor     r11, r2, r11, ror #12
    store   r11, \to, 1, 2, 0
    bic     r11, r5, r4, ror #22
    eor     r11, r3, r11, ror #4
    store   r11, \to, 2, 2, 0
    bic     r11, r1, r5, ror #26
    eor     r11, r4, r11, ror #16
    store   r11, \to, 3, 2, 0
    bic     r11, r2, r1, ror #28
    eor     r11, r5, r11, ror #10
    /* Row 3, odd bits. */
    load_d  r6, 0, 1
    load    r1, \from, 4, 0, 0
    load    r2, \from, 0, 1, 1
    load    r3, \from, 1, 2, 1
    load    r4, \from, 2, 3, 0
    load    r5, \from, 3, 4, 1
    store   r11, \to, 4, 2, 0
    eor     r1, r10, r1, ror #25
    eor     r2, r6, r2, ror #14
    eor     r3, r7, r3, ror #12
    eor     r4, r8, r4, ror #20
    eor     r5, r9, r5, ror #12
    bic     r11, r3, r2, ror #25
    eor     r11, r1, r11, ror #21
    store   r11, \to, 0, 3, 1
    bic     r11, r4, r3, ror #28
    eor     r11, r2, r11, ror #11
    store   r11, \to, 1, 3, 1
    bic     r11, r5, r4, ror #25
    eor     r11, r3, r11, ror #11
    store   r11, \to, 2, 3, 1
    bic     r11, r1, r5
    eor     r11, r4, r11, ror #7
    store   r11, \to, 3, 3, 1
    bic     r11, r2, r1, ror #18
    eor     r11, r5, r11, ror #14
    /* Row 0, odd bits. */
    load_d  r9, 3, 0
    load_d  r10, 4, 1
    load    r1, \from, 0, 0, 1
    load    r2, \from, 1, 1, 1
    load    r3, \from, 2, 2, 0
    load    r4, \from, 3, 3, 0
    load    r5, \from, 4, 4, 1
    ldr.w   lr, [r12, #4]
    store   r11, \to, 4, 3, 1
    eor     r1, r6, r1
    eor     r2, r7, r2, ror #10
    eor     r3, r8, r3, ror #15
    eor     r4, r9, r4, ror #9
    eor     r5, r10, r5, ror #11
    bic     r11, r3, r2, ror #25
    eor     r11, r1, r11, ror #11
    eor     r11, r11, lr
    store   r11, \to, 0, 0, 1
    bic     r11, r4, r3, ror #29
    eor     r11, r2, r11, ror #10
    store   r11, \to, 1, 0, 1
    bic     r11, r5, r4, ror #7
    eor     r11, r3, r11, ror #28
    store   r11, \to, 2, 0, 1
    bic     r11, r1, r5, ror #7
    eor     r11, r4, r11, ror #18
    store   r11, \to, 3, 0, 1
    bic     r11, r2, r1, ror #28
    eor     r11, r5, r11, ror #29
    /* Row 1, even bits. */
    load_d  r8, 2, 1
    load_d  r10, 4, 0
    load    r1, \from, 3, 0, 0
    load    r2, \from, 4, 1, 0
    load    r3, \from, 0, 2, 1
    load    r4, \from, 1, 3, 1
    load    r5, \from, 2, 4, 1
    store   r11, \to, 4, 0, 1
    eor     r1, r9, r1, ror #25
    eor     r2, r10, r2, ror #29
    eor     r3, r6, r3, ror #25
    eor     r4, r7, r4, ror #20
    eor     r5, r8, r5, ror #17
    bic     r11, r3, r2, ror #5
    eor     r11, r1, r11, ror #20
    store   r11, \to, 0, 1, 0
    bic     r11, r4, r3, ror #27
    eor     r11, r2, r11
    store   r11, \to, 1, 1, 0
    bic     r11, r5, r4, ror #25
    eor     r11, r3, r11, ror #12
    store   r11, \to, 2, 1, 0
    bic     r11, r1, r5
    eor     r11, r4, r11, ror #7
    store   r11, \to, 3, 1, 0
    bic     r11, r2, r1, ror #7
    eor     r11, r5, r11, ror #25
    /* Row 4, odd bits. */
    load_d  r6, 0, 0
    load    r1, \from, 2, 0, 1
    load    r2, \from, 3, 1, 0
    load    r3, \from, 4, 2, 0
    load    r4, \from, 0, 3, 0
    load    r5, \from, 1, 4, 1
    store   r11, \to, 4, 1, 0
    eor     r1, r8, r1, ror #2
    eor     r2, r9, r2, ror #11
    eor     r3, r10, r3, ror #6
    eor     r4, r6, r4, ror #4
    eor     r5, r7, r5, ror #3
    bic     r11, r3, r2, ror #3
    eor     r11, r1, r11, ror #16
    store   r11, \to, 0, 4, 1
    bic     r11, r4, r3, ror #18
    eor     r11, r2, r11, ror #11
    store   r11, \to, 1, 4, 1
    bic     r11, r5, r4, ror #15
    eor     r11, r3, r11, ror #31
    store   r11, \to, 2, 4, 1
    bic     r11, r1, r5, ror #15
    eor     r11, r4, r11, ror #2
    store   r11, \to, 3, 4, 1
    bic     r11, r2, r1, ror #13
    eor     r11, r5, r11, ror #4
    /* Row 0, even bits. */
    load_d  r7, 1, 0
    load_d  r9, 3, 1
    load    r1, \from, 0, 0, 0
    load    r2, \from, 1, 1, 0
    load    r3, \from, 2, 2, 1
    load    r4, \from, 3, 3, 1
    load    r5, \from, 4, 4, 0
    ldr.w   lr, [r12, #0]
    store   r11, \to, 4, 4, 1
    eor     r1, r6, r1
    eor     r2, r7, r2, ror #10
    eor     r3, r8, r3, ror #3
    eor     r4, r9, r4, ror #29
    eor     r5, r10, r5, ror #11
    bic     r11, r3, r2, ror #16
    eor     r11, r1, r11, ror #23
    eor     r11, r11, lr
    store   r11, \to, 0, 0, 0
    bic     r11, r4, r3, ror #2
    eor     r11, r2, r11, ror #14
    store   r11, \to, 1, 0, 0
    bic     r11, r5, r4, ror #11
    eor     r11, r3, r11, ror #19
    store   r11, \to, 2, 0, 0
    bic     r11, r1, r5, ror #10
    eor     r11, r4, r11, ror #11
    store   r11, \to, 3, 0, 0
    bic     r11, r2, r1, ror #25
    eor     r11, r5, r11, ror #29
    /* Row 1, odd bits. */
    load_d  r8, 2, 0
    load_d  r10, 4, 1
    load    r1, \from, 3, 0, 1
    load    r2, \from, 4, 1, 1
    load    r3, \from, 0, 2, 0
    load    r4, \from, 1, 3, 0
    load    r5, \from, 2, 4, 0
    store   r11, \to, 4, 0, 0
    eor     r1, r9, r1, ror #18
    eor     r2, r10, r2, ror #20
    eor     r3, r6, r3, ror #29
    eor     r4, r7, r4, ror #17
    eor     r5, r8, r5, ror #26
    bic     r11, r3, r2, ror #9
    eor     r11, r1, r11, ror #13
    store   r11, \to, 0, 1, 1
    bic     r11, r4, r3, ror #24
    eor     r11, r2, r11, ror #31
    store   r11, \to, 1, 1, 1
    bic     r11, r5, r4, ror #1
    eor     r11, r3, r11, ror #7
    store   r11, \to, 2, 1, 1
    bic     r11, r1, r5, ror #20
    eor     r11, r4, r11, ror #11
    store   r11, \to, 3, 1, 1
    bic     r11, r2, r1, ror #10
    eor     r11, r5, r11, ror #2
    /* Row 4, even bits. */
    load_d  r6, 0, 1
    load    r1, \from, 2, 0, 0
    load    r2, \from, 3, 1, 1
    load    r3, \from, 4, 2, 1
    load    r4, \from, 0, 3, 1
    load    r5, \from, 1, 4, 0
    store   r11, \to, 4, 1, 1
    eor     r1, r8, r1, ror #19
    eor     r2, r9, r2, ror #7
    eor     r3, r10, r3, ror #9
    eor     r4, r6, r4
    eor     r5, r7, r5, ror #7
    bic     r11, r3, r2, ror #6
    eor     r11, r1, r11, ror #25
    store   r11, \to, 0, 4, 0
    bic     r11, r4, r3, ror #15
    eor     r11, r2, r11, ror #11
    store   r11, \to, 1, 4, 0
    bic     r11, r5, r4, ror #19
    eor     r11, r3, r11, ror #30
    store   r11, \to, 2, 4, 0
    bic     r11, r1, r5, ror #23
    eor     r11, r4, r11, ror #22
    store   r11, \to, 3, 4, 0
    bic     r11, r2, r1, ror #1
    eor     r11, r5, r11, ror #8
    /* Row 2, odd bits. */
    load_d  r8, 2, 1
    load_d  r9, 3, 0
    load    r1, \from, 1, 0, 0
    load    r2, \from, 2, 1, 1
    load    r3, \from, 3, 2, 0
    load    r4, \from, 4, 3, 1
    load    r5, \from, 0, 4, 1
    store   r11, \to, 4, 4, 0
    eor     r1, r7, r1, ror #10
    eor     r2, r8, r2, ror #18
    eor     r3, r9, r3, ror #17
    eor     r4, r10, r4, ror #18
    eor     r5, r6, r5, ror #10
    bic     r11, r3, r2, ror #26
    eor     r11, r1, r11, ror #19
    store   r11, \to, 0, 2, 1
    bic     r11, r4, r3, ror #2
    eor     r11, r2, r11, ror #4
    store   r11, \to, 1, 2, 1
    bic     r11, r5, r4, ror #19
    eor     r11, r3, r11, ror #11
    store   r11, \to, 2, 2, 1
    bic     r11, r1, r5, ror #30
    eor     r11, r4, r11, ror #15
    store   r11, \to, 3, 2, 1
    bic     r11, r2, r1, ror #19
    eor     r11, r5, r11, ror #15
    /* Row 3, even bits. */
    load_d  r6, 0, 0
    load    r1, \from, 4, 0, 1
    load    r2, \from, 0, 1, 0
    load    r3, \from, 1, 2, 0
    load    r4, \from, 2, 3, 1
    load    r5, \from, 3, 4, 0
    store   r11, \to, 4, 2, 1
    eor     r10, r10, r1, ror #25
    eor     r6, r6, r2, ror #14
    eor     r7, r7, r3, ror #4
    eor     r8, r8, r4, ror #12
    eor     r9, r9, r5, ror #19
    bic     r11, r7, r6, ror #22
    eor     r1, r10, r11, ror #20
    store   r1, \to, 0, 3, 0
    bic     r11, r8, r7, ror #19
    eor     r2, r6, r11, ror #23
    store   r2, \to, 1, 3, 0
    bic     r11, r9, r8, ror #5
    eor     r3, r7, r11, ror #8
    store   r3, \to, 2, 3, 0
    bic     r11, r10, r9, ror #28
    eor     r4, r8, r11, ror #31
    store   r4, \to, 3, 3, 0
    bic     r11, r6, r10, ror #22
    eor     r5, r9, r11, ror #14
    store   r5, \to, 4, 3, 0
    add.w   r12, r12, #8
.endm

    .section .text.keccak_f1600, "ax", %progbits
    .weak keccak_f1600 @ several primitives of an image may have it
    .type   keccak_f1600, %function
    .thumb_func
    .p2align 2
/* void keccak_f1600(keccak_lane state[25]) */
keccak_f1600:
    push    {r4-r11, lr}
    sub.w   sp, sp, #FRAME_BYTES
    movw    r12, #:lower16:.Lconstants
    movt    r12, #:upper16:.Lconstants
    load    r1, r0, 0, 3, 0
    load    r2, r0, 1, 3, 0
    load    r3, r0, 2, 3, 0
    load    r4, r0, 3, 3, 0
    load    r5, r0, 4, 3, 0
.Ltwo_rounds:
    round   r0, sp
    round   sp, r0
    movw    lr, #:lower16:.Lconstants_end
    movt    lr, #:upper16:.Lconstants_end
    cmp     r12, lr
    bne     .Ltwo_rounds

    .irp    register, r0, r1, r2, r3, r4, r5, r6, r7, r8, r9
    mov     \register, #0
    .endr
    add     sp, #FRAME_BYTES
    .rept   FRAME_BYTES / 40
    push    {r0-r9}
    .endr
    push    {r0-r8}
    add     sp, #FRAME_BYTES
    pop     {r4-r11, pc}
    .size   keccak_f1600, . - keccak_f1600

    .section .rodata.keccak_f1600, "a", %progbits
    .p2align 2
/* Constants of iota (FIPS 202, section 3.2.5): even bits, odd bits, rotated as lane (0, 0) is. */
.Lconstants:
    .word 0x00000004, 0x00000000, 0x00000000, 0x00002240, 0x00000000, 0x000022e0
    .word 0x00000000, 0x00202020, 0x00000004, 0x000022c0, 0x00000004, 0x00200000
    .word 0x00000004, 0x00202220, 0x00000004, 0x000020a0, 0x00000000, 0x000002c0
    .word 0x00000000, 0x00000280, 0x00000004, 0x00202080, 0x00000000, 0x002000c0
    .word 0x00000004, 0x002022c0, 0x00000004, 0x000002e0, 0x00000004, 0x000022a0
    .word 0x00000004, 0x00002060, 0x00000000, 0x00002060, 0x00000000, 0x00000220
    .word 0x00000000, 0x000020c0, 0x00000000, 0x002000e0, 0x00000004, 0x00202220
    .word 0x00000000, 0x00002220, 0x00000004, 0x00200000, 0x00000000, 0x002020a0
.Lconstants_end:
