/* ChaCha20's blocks. All words are in registers. */
#include "riscv.inc"

#define STATE a0
#define OUT a1
#define IN a2
#define BLOCKS a3
#define LEFT a4 /* pairs of double rounds */
#define T a5
#define U a6

#define X0 a7
#define X1 t0
#define X2 t1
#define X3 t2
#define X4 t3
#define X5 t4
#define X6 t5
#define X7 t6
#define X8 s0
#define X9 s1
#define X10 s2
#define X11 s3
#define X12 s4
#define X13 s5
#define X14 s6
#define X15 s7
#define WORDS X0, X1, X2, X3, X4, X5, X6, X7, X8, X9, X10, X11, X12, X13, X14, X15
#define SAVED s0, s1, s2, s3, s4, s5, s6, s7
#define FRAME 32

.macro quarter_round a, b, c, d
    add     \a, \a, \b
    xor     \d, \d, \a
    rori    \d, \d, 16
    add     \c, \c, \d
    xor     \b, \b, \c
    rori    \b, \b, 20
    add     \a, \a, \b
    xor     \d, \d, \a
    rori    \d, \d, 24
    add     \c, \c, \d
    xor     \b, \b, \c
    rori    \b, \b, 25
.endm

.macro double_round
    quarter_round X0, X4, X8, X12
    quarter_round X1, X5, X9, X13
    quarter_round X2, X6, X10, X14
    quarter_round X3, X7, X11, X15
    quarter_round X0, X5, X10, X15
    quarter_round X1, X6, X11, X12
    quarter_round X2, X7, X8, X13
    quarter_round X3, X4, X9, X14
.endm

/* void chacha20_xor(uint32_t state[16], uint8_t *out, const uint8_t *in, size_t blocks) */
    .section .text.chacha20_xor, "ax", %progbits
    .global chacha20_xor
    .type   chacha20_xor, %function
    .balign 4
chacha20_xor:
    addi    sp, sp, -FRAME
    save    0, SAVED
    .balign 4
1:
    .set    place, 0
    .irp    word, WORDS
    lw      \word, place(STATE)
    .set    place, place + 4
    .endr
    li      LEFT, 5
    .balign 4
2:
    double_round
    double_round
    addi    LEFT, LEFT, -1
    bnez    LEFT, 2b
    or      T, IN, OUT
    andi    T, T, 3
    bnez    T, 5f
    .set    place, 0
    .irp    word, WORDS
    lw      T, place(STATE)
    lw      U, place(IN)
    add     \word, \word, T
    xor     \word, \word, U
    sw      \word, place(OUT)
    .set    place, place + 4
    .endr
3:
    lw      T, 48(STATE)
    addi    BLOCKS, BLOCKS, -1
    addi    T, T, 1
    sw      T, 48(STATE)
    addi    IN, IN, 64
    addi    OUT, OUT, 64
    beqz    BLOCKS, 4f
    j       1b
4:
    restore 0, SAVED
    addi    sp, sp, FRAME
    clear   a7, t0, t1, t2, t3, t4, t5, t6
    ret

/* At any address. */
5:
    .set    place, 0
    .irp    word, WORDS
    lw      T, place(STATE)
    add     \word, \word, T
    gather_word T, place, IN, U, LEFT
    xor     \word, \word, T
    scatter_word \word, place, OUT
    .set    place, place + 4
    .endr
    j       3b
    .size   chacha20_xor, . - chacha20_xor
