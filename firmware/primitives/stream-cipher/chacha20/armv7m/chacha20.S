/* ChaCha20's block function, XORed with a message. No instruction merely rotates: the words of rows
   b and d are kept unrotated in their registers, and the next instruction that uses one rotates it.
   Between quarter rounds that is a left rotation by 7 for b and by 8 for d. */
    .syntax unified
    .thumb

#define B_LATE 25 /* pending right rotation */
#define D_LATE 24

/* c0 and c3 share a register, and so do d1 and d3. */
#define A0 r0
#define A1 r1
#define A2 r2
#define A3 r3
#define B0 r4
#define B1 r5
#define B2 r6
#define B3 r7
#define C0_C3 r8
#define C1 r9
#define C2 r10
#define D0 r11
#define D1_D3 lr
#define D2 r12

/* The frame. */
#define C0 0
#define C3 4
#define D_ROW 8
#define D1 (D_ROW + 4)
#define D3 (D_ROW + 12)
#define LEFT 24 /* remaining iterations of the loop */
#define FRAME_BYTES 28
#define STATE 28
#define OUT 32
#define IN 36
#define BLOCKS 40

.macro quarter_round_begun a, b, c, d
    eor     \d, \a, \d, ror #D_LATE
    add     \c, \c, \d, ror #16
    eor     \b, \c, \b, ror #B_LATE
    add     \a, \a, \b, ror #20
    eor     \d, \a, \d, ror #16
    add     \c, \c, \d, ror #24
    eor     \b, \c, \b, ror #20
.endm

.macro quarter_round a, b, c, d
    add     \a, \a, \b, ror #B_LATE
    quarter_round_begun \a, \b, \c, \d
.endm

/* A column round, then a diagonal round. Loads are kept apart from stores, because a load right
   after a store waits. */
.macro double_round counts
    quarter_round A0, B0, C0_C3, D0
    quarter_round A1, B1, C1, D1_D3
    quarter_round A2, B2, C2, D2
    str     C0_C3, [sp, #C0]
    str     D1_D3, [sp, #D1]
    add     A3, A3, B3, ror #B_LATE
    ldr     C0_C3, [sp, #C3]
    ldr     D1_D3, [sp, #D3]
    quarter_round_begun A3, B3, C0_C3, D1_D3
    quarter_round A0, B1, C2, D1_D3
    quarter_round A1, B2, C0_C3, D0
    str     C0_C3, [sp, #C3]
    .if     \counts /* no instruction from here to the branch changes the flags */
    ldr     C0_C3, [sp, #LEFT]
    str     D1_D3, [sp, #D3]
    subs    C0_C3, C0_C3, #1
    str     C0_C3, [sp, #LEFT]
    .else
    str     D1_D3, [sp, #D3]
    .endif
    add     A2, A2, B3, ror #B_LATE
    ldr     C0_C3, [sp, #C0]
    ldr     D1_D3, [sp, #D1]
    quarter_round_begun A2, B3, C0_C3, D1_D3
    quarter_round A3, B0, C1, D2
.endm

    .section .text.chacha20_xor, "ax", %progbits
    .global chacha20_xor
    .type   chacha20_xor, %function
    .thumb_func
    .p2align 2
/* void chacha20_xor(uint32_t state[16], uint8_t *out, const uint8_t *in, size_t blocks) */
chacha20_xor:
    push    {r0-r11, lr}
    sub     sp, #FRAME_BYTES
    mov     lr, r0
.Lblock:
    movs    r0, #5
    ldr     C0_C3, [lr, #44]
    ldr     D0, [lr, #60]
    str     r0, [sp, #LEFT]
    ror     D0, D0, #32 - D_LATE
    str     C0_C3, [sp, #C3]
    str     D0, [sp, #D3]
    ldmia   lr, {r0-r7}
    ldr     C0_C3, [lr, #32]
    ldr     C1, [lr, #36]
    ldr     C2, [lr, #40]
    ldr     D0, [lr, #48]
    ldr     D2, [lr, #56]
    ldr     D1_D3, [lr, #52]
    .irp    word, B0, B1, B2, B3
    ror     \word, \word, #32 - B_LATE
    .endr
    .irp    word, D0, D2, D1_D3
    ror     \word, \word, #32 - D_LATE
    .endr

    .p2align 3
.Lloop:
    double_round 0
    double_round 1
    bne     .Lloop

/* Row by row: add the state, XOR the message, write the result. */
    str     C0_C3, [sp, #C0]
    str     D0, [sp, #D_ROW]
    str     D1_D3, [sp, #D1]
    str     D2, [sp, #D_ROW + 8]
    ldr     lr, [sp, #STATE]
    ldr     r12, [sp, #IN]
    ldr     r8, [lr]
    ldr     r11, [lr, #4]
    add     r0, r0, r8
    add     r1, r1, r11
    ldr     r8, [lr, #8]
    ldr     lr, [lr, #12]
    ldr     r11, [sp, #OUT]
    add     r2, r2, r8
    add     r3, r3, lr
    ldr     r8, [r12]
    ldr     lr, [r12, #4]
    eor     r0, r0, r8
    eor     r1, r1, lr
    ldr     r8, [r12, #8]
    ldr     lr, [r12, #12]
    eor     r2, r2, r8
    eor     r3, r3, lr
    ldr     lr, [sp, #STATE]
    str     r0, [r11]
    str     r1, [r11, #4]
    str     r2, [r11, #8]
    str     r3, [r11, #12]

    ldr     r0, [lr, #16]
    ldr     r1, [lr, #20]
    ldr     r2, [lr, #24]
    ldr     r3, [lr, #28]
    add     B0, r0, B0, ror #B_LATE
    add     B1, r1, B1, ror #B_LATE
    add     B2, r2, B2, ror #B_LATE
    add     B3, r3, B3, ror #B_LATE
    ldr     r0, [r12, #16]
    ldr     r1, [r12, #20]
    ldr     r2, [r12, #24]
    ldr     r3, [r12, #28]
    eors    r0, B0
    eors    r1, B1
    eors    r2, B2
    eors    r3, B3
    str     r0, [r11, #16]
    str     r1, [r11, #20]
    str     r2, [r11, #24]
    str     r3, [r11, #28]

    ldr     r4, [sp, #C0]
    ldr     r5, [sp, #C3]
    ldr     r0, [lr, #32]
    ldr     r1, [lr, #36]
    ldr     r2, [lr, #40]
    ldr     r3, [lr, #44]
    adds    r0, r4
    add     r1, C1
    add     r2, C2
    adds    r3, r5
    ldr     r4, [r12, #32]
    ldr     r5, [r12, #36]
    ldr     r6, [r12, #40]
    ldr     r7, [r12, #44]
    eors    r0, r4
    eors    r1, r5
    eors    r2, r6
    eors    r3, r7
    str     r0, [r11, #32]
    str     r1, [r11, #36]
    str     r2, [r11, #40]
    str     r3, [r11, #44]

    ldr     r0, [sp, #D_ROW]
    ldr     r1, [sp, #D_ROW + 4]
    ldr     r2, [sp, #D_ROW + 8]
    ldr     r3, [sp, #D_ROW + 12]
    ldr     r8, [lr, #48]
    ldr     r5, [lr, #52]
    ldr     r6, [lr, #56]
    ldr     r7, [lr, #60]
    add     r0, r8, r0, ror #D_LATE
    add     r1, r5, r1, ror #D_LATE
    add     r2, r6, r2, ror #D_LATE
    add     r3, r7, r3, ror #D_LATE
    ldr     r4, [r12, #48]
    ldr     r5, [r12, #52]
    ldr     r6, [r12, #56]
    ldr     r7, [r12, #60]
    eors    r0, r4
    eors    r1, r5
    eors    r2, r6
    eors    r3, r7
    ldr     r4, [sp, #BLOCKS]
    str     r0, [r11, #48]
    str     r1, [r11, #52]
    str     r2, [r11, #56]
    str     r3, [r11, #60]

    add     r8, r8, #1
    str     r8, [lr, #48]
    add     r11, r11, #64
    add     r12, r12, #64
    str     r11, [sp, #OUT]
    str     r12, [sp, #IN]
    subs    r4, #1
    str     r4, [sp, #BLOCKS]
    bne     .Lblock

    movs    r1, #0
    movs    r2, #0
    movs    r3, #0
    add     sp, #LEFT
    push    {r1-r3}
    push    {r1-r3}
    add     sp, #FRAME_BYTES + 16
    pop     {r4-r11, pc}
    .size   chacha20_xor, . - chacha20_xor
