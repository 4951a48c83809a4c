/* SHA-1's compression. The message schedule is computed first. Then the five working variables stay
   in registers and are renamed from round to round; c, d and e are kept without their left rotation
   by 30, and the instructions that use them apply it. */
    .syntax unified
    .thumb

#define LATE 2 /* pending right rotation of c, d and e */

#define NEXT r10 /* the schedule's word at which the next rounds begin */
#define END r11  /* the word at which this phase ends */
#define K r9
#define T lr

#define H 320
#define FRAME_BYTES 320

/* The start of a round in any phase, and the next step of rounds with Ch or Maj. */
.macro begin a, e, w
    add     \e, K, \e, ror #LATE
    add     \e, \e, \w
    add     \e, \e, \a, ror #27
.endm

.macro choose a, b, c, d, e, w
    begin   \a, \e, \w
    eor     T, \c, \d
    and     T, \b, T, ror #LATE
    eor     T, T, \d, ror #LATE
    add     \e, \e, T
.endm

.macro parity a, b, c, d, e, w
    begin   \a, \e, \w
    eor     T, \c, \d
    eor     T, \b, T, ror #LATE
    add     \e, \e, T
.endm

/* b c + b d + c d is c d or b (c ^ d), which never have a bit in common. */
.macro majority a, b, c, d, e, w
    begin   \a, \e, \w
    eor     T, \c, \d
    and     T, \b, T, ror #LATE
    add     \e, \e, T
    and     T, \c, \d
    add     \e, \e, T, ror #LATE
.endm

/* Twenty rounds, five at a time. */
.macro phase function, constant
    movw    K, #(\constant) & 0xffff
    movt    K, #(\constant) >> 16
    add     END, #80
    .p2align 2 /* unaligned 32-bit instructions are fetched later */
1:
    ldmia   NEXT!, {r0-r3, r12}
    \function r4, r5, r6, r7, r8, r0
    \function r8, r4, r5, r6, r7, r1
    \function r7, r8, r4, r5, r6, r2
    \function r6, r7, r8, r4, r5, r3
    \function r5, r6, r7, r8, r4, r12
    cmp     NEXT, END
    bne     1b
.endm

/* Words i and i + 1, counted from NEXT. In: o3, o2, o1 are W(t - 3) to W(t - 1), i16 and i15 are
   W(t - 16) and W(t - 15). Out: W(t) and W(t + 1) replace these, and f1 and f2 hold W(t - 14) and
   W(t - 13), so that the registers are renamed. The two previous words are stored here, because a
   store costs less after a load than before one. */
.macro extend i, o3, o2, o1, i16, i15, f1, f2
    ldr     r8, [r0, #4 * (\i) - 4 * 8]
    ldr     r9, [r0, #4 * (\i) + 4 - 4 * 8]
    ldr     \f1, [r0, #4 * (\i) - 4 * 14]
    ldr     \f2, [r0, #4 * (\i) + 4 - 4 * 14]
    .if     \i
    str     \o2, [r0, #4 * (\i) - 8]
    str     \o1, [r0, #4 * (\i) - 4]
    .endif
    eor     r8, \o3
    eor     r8, \i16
    eor     r8, \f1
    eor     r9, \o2
    eor     r9, \i15
    eor     r9, \f2
    ror     \i16, r8, #31
    ror     \i15, r9, #31
.endm

    .section .text.sha1_compress, "ax", %progbits
    .global sha1_compress
    .type   sha1_compress, %function
    .thumb_func
    .p2align 2
/* void sha1_compress(uint32_t h[5], const uint8_t *block) */
sha1_compress:
    push    {r0, r4-r11, lr}
    sub.w   sp, sp, #FRAME_BYTES

    /* Loads big-endian words of the block, which may be unaligned. */
    mov     r0, sp
    add     r12, r1, #64
.Lload:
    ldr     r2, [r1]
    ldr     r3, [r1, #4]
    ldr     r4, [r1, #8]
    ldr     r5, [r1, #12]
    adds    r1, #16
    rev     r2, r2
    rev     r3, r3
    rev     r4, r4
    rev     r5, r5
    stmia   r0!, {r2-r5}
    cmp     r1, r12
    bne     .Lload

    add     r12, r0, #4 * 64
    .p2align 2
.Lsixteen_words:
    ldr     r1, [r0, #-4 * 3]
    ldr     r2, [r0, #-4 * 2]
    ldr     r3, [r0, #-4 * 1]
    ldr     r4, [r0, #-4 * 16]
    ldr     r5, [r0, #-4 * 15]
    extend  0, r1, r2, r3, r4, r5, r6, r7
    extend  2, r3, r4, r5, r6, r7, r1, r2
    extend  4, r5, r6, r7, r1, r2, r3, r4
    extend  6, r7, r1, r2, r3, r4, r5, r6
    extend  8, r2, r3, r4, r5, r6, r7, r1
    extend  10, r4, r5, r6, r7, r1, r2, r3
    extend  12, r6, r7, r1, r2, r3, r4, r5
    extend  14, r1, r2, r3, r4, r5, r6, r7
    str     r4, [r0, #4 * 14]
    str     r5, [r0, #4 * 15]
    add     r0, #64
    cmp     r0, r12
    bne     .Lsixteen_words

    ldr     r0, [sp, #H]
    ldmia   r0, {r4-r8}
    .irp    word, r6, r7, r8
    ror     \word, \word, #32 - LATE
    .endr
    mov     NEXT, sp
    mov     END, sp
    phase   choose, 0x5a827999
    phase   parity, 0x6ed9eba1
    phase   majority, 0x8f1bbcdc
    phase   parity, 0xca62c1d6
    ldr     r12, [sp, #H]
    ldmia   r12, {r0-r3, r9}
    add     r0, r4
    add     r1, r5
    add     r2, r2, r6, ror #LATE
    add     r3, r3, r7, ror #LATE
    add     r9, r9, r8, ror #LATE
    stmia   r12, {r0-r3, r9}

    .irp    register, r0, r1, r2, r3, r4, r5, r6, r7, r8, r9
    mov     \register, #0
    .endr
    add     sp, #FRAME_BYTES
    .rept   FRAME_BYTES / 40
    push    {r0-r9}
    .endr
    add     sp, #FRAME_BYTES + 4
    pop     {r4-r11, pc}
    .size   sha1_compress, . - sha1_compress
