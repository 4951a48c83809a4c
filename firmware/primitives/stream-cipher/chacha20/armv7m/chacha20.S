/* ChaCha20's block function. No instruction only rotates: the words of rows b and d lie in their
   registers not yet rotated, and the next instruction that takes one rotates it. Between quarter
   rounds that is by 7 to the left for b and by 8 for d. */
    .syntax unified
    .thumb

#define B_LATE 25 /* to the right */
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
#define D1 4
#define C3 8
#define D3 12
#define A_ROW 16
#define WORDS 8 /* to wipe */
#define LEFT 32 /* iterations of the loop */
#define FRAME_BYTES 36
#define STREAM 36
#define STATE 40

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

/* A column round, then a diagonal one. A load waits for a store right before it. */
.macro double_round
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
    str     D1_D3, [sp, #D3]
    add     A2, A2, B3, ror #B_LATE
    ldr     C0_C3, [sp, #C0]
    ldr     D1_D3, [sp, #D1]
    quarter_round_begun A2, B3, C0_C3, D1_D3
    quarter_round A3, B0, C1, D2
.endm

    .section .text.chacha20_block, "ax", %progbits
    .global chacha20_block
    .type   chacha20_block, %function
    .thumb_func
    .p2align 2
/* void chacha20_block(uint8_t stream[64], const uint32_t state[16]) */
chacha20_block:
    push    {r0, r1, r4-r11, lr}
    sub     sp, #FRAME_BYTES
    ldr     C0_C3, [r1, #44]
    ldr     D1_D3, [r1, #60]
    ror     D1_D3, D1_D3, #32 - D_LATE
    str     C0_C3, [sp, #C3]
    str     D1_D3, [sp, #D3]
    movs    r0, #5
    str     r0, [sp, #LEFT]
    ldr     C0_C3, [r1, #32]
    ldr     C1, [r1, #36]
    ldr     C2, [r1, #40]
    ldr     D0, [r1, #48]
    ldr     D1_D3, [r1, #52]
    ldr     D2, [r1, #56]
    ldmia   r1, {r0-r7}
    .irp    word, B0, B1, B2, B3
    ror     \word, \word, #32 - B_LATE
    .endr
    .irp    word, D0, D1_D3, D2
    ror     \word, \word, #32 - D_LATE
    .endr

.Lloop:
    double_round
    double_round
    str     D1_D3, [sp, #D1]
    ldr     D1_D3, [sp, #LEFT]
    subs    D1_D3, #1
    str     D1_D3, [sp, #LEFT]
    ldr     D1_D3, [sp, #D1]
    bne     .Lloop

    str     A0, [sp, #A_ROW]
    str     A1, [sp, #A_ROW + 4]
    str     A2, [sp, #A_ROW + 8]
    str     A3, [sp, #A_ROW + 12]
    ldr     r0, [sp, #STREAM]
    ldr     r1, [sp, #STATE]
    ldr     r2, [r1, #16]
    ldr     r3, [r1, #20]
    add     B0, r2, B0, ror #B_LATE
    add     B1, r3, B1, ror #B_LATE
    ldr     r2, [r1, #24]
    ldr     r3, [r1, #28]
    add     B2, r2, B2, ror #B_LATE
    add     B3, r3, B3, ror #B_LATE
    str     B0, [r0, #16]
    str     B1, [r0, #20]
    str     B2, [r0, #24]
    str     B3, [r0, #28]
    ldr     r2, [r1, #32]
    ldr     r3, [r1, #36]
    ldr     r4, [r1, #40]
    ldr     r5, [r1, #44]
    ldr     r6, [sp, #C3]
    add     C0_C3, r2
    add     C1, r3
    add     C2, r4
    add     r5, r6
    str     C0_C3, [r0, #32]
    str     C1, [r0, #36]
    str     C2, [r0, #40]
    str     r5, [r0, #44]
    ldr     r2, [r1, #48]
    ldr     r3, [r1, #52]
    ldr     r4, [r1, #56]
    ldr     r5, [r1, #60]
    ldr     r6, [sp, #D3]
    add     D0, r2, D0, ror #D_LATE
    add     D1_D3, r3, D1_D3, ror #D_LATE
    add     D2, r4, D2, ror #D_LATE
    add     r5, r5, r6, ror #D_LATE
    str     D0, [r0, #48]
    str     D1_D3, [r0, #52]
    str     D2, [r0, #56]
    str     r5, [r0, #60]
    ldmia   r1, {r1-r4}
    ldr     r5, [sp, #A_ROW]
    ldr     r6, [sp, #A_ROW + 4]
    ldr     r7, [sp, #A_ROW + 8]
    ldr     r8, [sp, #A_ROW + 12]
    add     r1, r5
    add     r2, r6
    add     r3, r7
    add     r4, r8
    stmia   r0, {r1-r4}

    .irp    register, r0, r1, r2, r3
    movs    \register, #0
    .endr
    add     sp, #4 * WORDS
    .rept   WORDS / 4
    push    {r0-r3}
    .endr
    add     sp, #FRAME_BYTES + 8
    pop     {r4-r11, pc}
    .size   chacha20_block, . - chacha20_block
