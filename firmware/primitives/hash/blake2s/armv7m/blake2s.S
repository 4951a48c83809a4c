/* BLAKE2s's function F. No instruction merely rotates: the words of rows b and d are kept unrotated
   in their registers, and the next instruction that uses one rotates it. Between two Gs that is a
   right rotation by 7 for b and by 8 for d. A word of code is one wide instruction, or a narrow
   load and a narrow addition: other mixtures would stall on fetches, and wide code takes more of a
   cache. */
    .syntax unified
    .thumb

#define B_LATE 7
#define D_LATE 8

/* c0 and c2 share a register, and so do c1 and c3, and d1 and d3. */
#define A0 r0
#define A1 r1
#define A2 r2
#define A3 r3
#define B0 r4
#define B1 r5
#define B2 r6
#define B3 r12
#define C0_C2 r8
#define C1_C3 r9
#define D0 r10
#define D1_D3 r11
#define D2 lr
#define T r7

/* The frame. */
#define M 0 /* the message words */
#define C0 64
#define C1 68
#define D1 72
#define C2 76
#define C3 80
#define D3 84
#define FRAME_BYTES 88
#define H 88

.macro constant register, value
    movw    \register, #(\value) & 0xffff
    movt    \register, #(\value) >> 16
.endm

/* A word of row d as it is kept. */
#define LATE(word) (((word) << D_LATE | (word) >> (32 - D_LATE)) & 0xffffffff)

/* G of RFC 7693, section 3.1, with words x and y of the message. */
.macro g_begun a, b, c, d, x, y
    ldr.n   T, [sp, #M + 4 * \x]
    adds.n  \a, \a, T
    eor.w   \d, \a, \d, ror #D_LATE
    add.w   \c, \c, \d, ror #16
    eor.w   \b, \c, \b, ror #B_LATE
    ldr.n   T, [sp, #M + 4 * \y]
    adds.n  \a, \a, T
    add.w   \a, \a, \b, ror #12
    eor.w   \d, \a, \d, ror #16
    add.w   \c, \c, \d, ror #8
    eor.w   \b, \c, \b, ror #12
.endm

.macro g a, b, c, d, x, y
    add.w   \a, \a, \b, ror #B_LATE
    g_begun \a, \b, \c, \d, \x, \y
.endm

/* Loads are kept apart from stores, because a load right after a store waits. */
.macro round s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, s12, s13, s14, s15
    g       A0, B0, C0_C2, D0, \s0, \s1
    g       A1, B1, C1_C3, D1_D3, \s2, \s3
    str.w   C0_C2, [sp, #C0]
    str.w   C1_C3, [sp, #C1]
    str.w   D1_D3, [sp, #D1]
    add.w   A2, A2, B2, ror #B_LATE
    ldr.w   C0_C2, [sp, #C2]
    ldr.w   C1_C3, [sp, #C3]
    ldr.w   D1_D3, [sp, #D3]
    g_begun A2, B2, C0_C2, D2, \s4, \s5
    g       A3, B3, C1_C3, D1_D3, \s6, \s7
    g       A0, B1, C0_C2, D1_D3, \s8, \s9
    g       A1, B2, C1_C3, D0, \s10, \s11
    str.w   C0_C2, [sp, #C2]
    str.w   C1_C3, [sp, #C3]
    str.w   D1_D3, [sp, #D3]
    add.w   A2, A2, B3, ror #B_LATE
    ldr.w   C0_C2, [sp, #C0]
    ldr.w   C1_C3, [sp, #C1]
    ldr.w   D1_D3, [sp, #D1]
    g_begun A2, B3, C0_C2, D1_D3, \s12, \s13
    g       A3, B0, C1_C3, D2, \s14, \s15
.endm

    .section .text.blake2s_compress, "ax", %progbits
    .global blake2s_compress
    .type   blake2s_compress, %function
    .thumb_func
    .p2align 2
/* void blake2s_compress(uint32_t h[8], const uint8_t *block, const uint32_t t[2], unsigned last) */
blake2s_compress:
    push    {r0, r4-r11, lr}
    sub.w   sp, sp, #FRAME_BYTES

    /* Copies the words of the block, which may be unaligned. */
    .irp    half, 0, 32
    ldr.w   r4, [r1, #\half]
    ldr.w   r5, [r1, #\half + 4]
    ldr.w   r6, [r1, #\half + 8]
    ldr.w   r7, [r1, #\half + 12]
    ldr.w   r8, [r1, #\half + 16]
    ldr.w   r9, [r1, #\half + 20]
    ldr.w   r10, [r1, #\half + 24]
    ldr.w   r11, [r1, #\half + 28]
    add.w   r12, sp, #M + \half
    stmia.w r12, {r4-r11}
    .endr

    ldrd    r4, r5, [r2]
    constant D0, LATE(0x510e527f)
    constant D1_D3, LATE(0x9b05688c)
    constant D2, LATE(0x1f83d9ab)
    eor.w   D0, D0, r4, ror #32 - D_LATE
    eor.w   D1_D3, D1_D3, r5, ror #32 - D_LATE
    cmp     r3, #0
    it      ne
    mvnne   D2, D2
    constant r4, 0x3c6ef372
    constant r5, 0xa54ff53a
    constant r6, LATE(0x5be0cd19)
    str.w   r4, [sp, #C2]
    str.w   r5, [sp, #C3]
    str.w   r6, [sp, #D3]
    constant C0_C2, 0x6a09e667
    constant C1_C3, 0xbb67ae85
    ldmia.w r0, {r0-r7}
    mov     B3, r7
    .irp    word, B0, B1, B2, B3
    ror.w   \word, \word, #32 - B_LATE
    .endr
    .p2align 2

    /* The permutations of RFC 7693, section 2.7. */
    round   0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    round   14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3
    round   11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4
    round   7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8
    round   9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13
    round   2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9
    round   12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11
    round   13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10
    round   6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5
    round   10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0

    eor.w   A0, A0, C0_C2
    eor.w   A1, A1, C1_C3
    eor.w   B0, B0, D0, ror #D_LATE - B_LATE
    eor.w   B1, B1, D1_D3, ror #D_LATE - B_LATE
    eor.w   B2, B2, D2, ror #D_LATE - B_LATE
    ldr.w   C0_C2, [sp, #C2]
    ldr.w   C1_C3, [sp, #C3]
    ldr.w   D1_D3, [sp, #D3]
    ldr.w   lr, [sp, #H]
    eor.w   A2, A2, C0_C2
    eor.w   A3, A3, C1_C3
    eor.w   B3, B3, D1_D3, ror #D_LATE - B_LATE
    ldmia.w lr!, {r8-r11}
    eor.w   A0, A0, r8
    eor.w   A1, A1, r9
    eor.w   A2, A2, r10
    eor.w   A3, A3, r11
    ldmia.w lr, {r8-r11}
    eor.w   B0, r8, B0, ror #B_LATE
    eor.w   B1, r9, B1, ror #B_LATE
    eor.w   B2, r10, B2, ror #B_LATE
    eor.w   r7, r11, B3, ror #B_LATE
    sub.w   lr, lr, #16
    stmia.w lr, {r0-r7}

    .irp    register, r0, r1, r2, r3, r4, r5, r6, r7
    movs    \register, #0
    .endr
    .irp    register, r8, r9, r10
    mov     \register, r0
    .endr
    add     sp, #FRAME_BYTES
    .rept   FRAME_BYTES / 44
    push    {r0-r10}
    .endr
    add     sp, #FRAME_BYTES + 4
    pop     {r4-r11, pc}
    .size   blake2s_compress, . - blake2s_compress
