/* Products of 256-bit integers for ARMv6-M, whose MULS gives the lower 32 bits of a product. It keeps
   the carry, and takes the same time for all operands (Cortex-M0+ TRM, table 3-1; 32 cycles on
   cores with the small multiplier), so a row of 16 x 16-bit products whose operands are 32 bits apart
   is added in one chain of carries: MOV, MULS, ADCS.

   A 128-bit integer is split into its even halfwords Ae and its odd ones Ao, A = Ae + 2^16 Ao; so is
   B. Then AB = (Ae Be + 2^32 Ao Bo) + 2^16 (Ae Bo + Ao Be). Five words of a sum move along with the
   rows. Subtractive Karatsuba makes 256 bits from two halves of 128. */
    .syntax unified
    .thumb

/* A function of the field. If two primitives of a curve include it, one copy is linked. */
.macro function name
    .section .text.\name, "ax"
    .balign 4
    .thumb_func
    .weak   \name
    .type   \name, %function
\name:
.endm

/* The frame of a 256-bit product: products of the low halves, of the high halves and of the
   differences; the differences; the sign; what keep_halfwords keeps; the arguments. */
#define LOW 0
#define HIGH 32
#define MIDDLE 64
#define DIFFERENCE_A 96
#define DIFFERENCE_B 112
#define SIGN 128
#define BE2 132
#define BE3 136
#define FRAME_BYTES 140
#define OUT 140
#define A 144
#define B 148

#define T r5
#define X r6
#define P r7

/* t = B's even or odd halfword n; flags are kept. */
.macro even n, t
    .if     \n == 0
    mov     \t, r12
    .elseif \n == 1
    mov     \t, lr
    .elseif \n == 2
    ldr     \t, [sp, #BE2]
    .else
    ldr     \t, [sp, #BE3]
    .endif
.endm

.macro odd n, t
    .if     \n == 0
    mov     \t, r8
    .elseif \n == 1
    mov     \t, r9
    .elseif \n == 2
    mov     \t, r10
    .else
    mov     \t, r11
    .endif
.endm

/* w = X times a halfword of B. */
.macro fresh half, n, w
    \half   \n, \w
    muls    \w, X, \w
.endm

.macro first half, n, w
    \half   \n, T
    muls    T, X, T
    adds    \w, \w, T
.endm

.macro next half, n, w
    \half   \n, T
    muls    T, X, T
    adcs    \w, \w, T
.endm

/* Four products to four words that are there. */
.macro row half, w0, w1, w2, w3
    first   \half, 0, \w0
    next    \half, 1, \w1
    next    \half, 2, \w2
    next    \half, 3, \w3
.endm

/* w = the carry. */
.macro carry_to w
    movs    \w, #0
    adcs    \w, \w
.endm

/* The next rows of both sums, of A's halfwords at an offset; words are those of the sum from there
   on. */
.macro rows_straight at, w0, w1, w2, w3, w4
    ldrh    X, [P, #\at]
    row     even, \w0, \w1, \w2, \w3
    carry_to \w4
    ldrh    X, [P, #\at + 2]
    row     odd, \w1, \w2, \w3, \w4
.endm

.macro rows_crossed at, w0, w1, w2, w3
    ldrh    X, [P, #\at]
    row     odd, \w0, \w1, \w2, \w3
    ldrh    X, [P, #\at + 2]
    row     even, \w0, \w1, \w2, \w3
.endm

/* w = w 2^n + the upper bits of another word times 2^n. */
.macro shift_in w, from, n
    lsls    \w, \w, #\n
    lsrs    X, \from, #32 - \n
    orrs    \w, \w, X
.endm

/* Keeps the halfwords of the four words at X. */
.macro keep_halfwords
    ldmia   X!, {r0-r3}
    uxth    r4, r0
    mov     r12, r4
    uxth    r4, r1
    mov     lr, r4
    uxth    r4, r2
    str     r4, [sp, #BE2]
    uxth    r4, r3
    str     r4, [sp, #BE3]
    lsrs    r0, r0, #16
    mov     r8, r0
    lsrs    r1, r1, #16
    mov     r9, r1
    lsrs    r2, r2, #16
    mov     r10, r2
    lsrs    r3, r3, #16
    mov     r11, r3
.endm

/* The words at P times those at X to the frame's \to, by way of eight other words of the frame. The
   crossed sum comes first, and is shifted as its words are ready; the straight one begins with its
   lower half. */
.macro product128 to, by
    keep_halfwords
    ldrh    X, [P, #0]
    fresh   odd, 0, r0
    fresh   odd, 1, r1
    fresh   odd, 2, r2
    fresh   odd, 3, r3
    ldrh    X, [P, #2]
    row     even, r0, r1, r2, r3
    carry_to r4
    lsls    T, r0, #16
    str     T, [sp, #\by]
    lsrs    r0, r0, #16
    rows_crossed 4, r1, r2, r3, r4
    carry_to X
    lsls    T, r1, #16
    orrs    r0, r0, T
    str     r0, [sp, #\by + 4]
    mov     r0, X
    lsrs    r1, r1, #16
    rows_crossed 8, r2, r3, r4, r0
    carry_to X
    lsls    T, r2, #16
    orrs    r1, r1, T
    str     r1, [sp, #\by + 8]
    mov     r1, X
    lsrs    r2, r2, #16
    rows_crossed 12, r3, r4, r0, r1
    carry_to T
    shift_in T, r1, 16
    shift_in r1, r0, 16
    shift_in r0, r4, 16
    shift_in r4, r3, 16
    lsls    r3, r3, #16
    orrs    r3, r3, r2
    add     X, sp, #\by + 12            /* words 5, 6, 4 and 7 */
    stmia   X!, {r0, r1, r4, T}
    add     X, sp, #\by
    ldmia   X!, {r0-r2}
    rows_straight 0, r0, r1, r2, r3, r4
    str     r0, [sp, #\to]
    rows_straight 4, r1, r2, r3, r4, r0
    str     r1, [sp, #\to + 4]
    rows_straight 8, r2, r3, r4, r0, r1
    str     r2, [sp, #\to + 8]
    rows_straight 12, r3, r4, r0, r1, r2
    ldr     T, [sp, #\by + 20]
    adds    r4, r4, T
    ldr     T, [sp, #\by + 12]
    adcs    r0, r0, T
    ldr     T, [sp, #\by + 16]
    adcs    r1, r1, T
    ldr     T, [sp, #\by + 24]
    adcs    r2, r2, T
    add     X, sp, #\to + 12
    stmia   X!, {r3, r4}
    stmia   X!, {r0-r2}
.endm

/* A product of two kept halfwords that is a new word, with the carry. */
.macro fresh_on half, n, w
    fresh   \half, \n, \w
    movs    T, #0
    adcs    \w, \w, T
.endm

/* w += the square of a kept halfword and the carry. */
.macro next_square half, n, w
    \half   \n, T
    muls    T, T, T
    adcs    \w, \w, T
.endm

/* w += a word that was put aside and the carry, to the frame's \to. */
.macro next_kept w, at, to
    ldr     T, [sp, #\at]
    adcs    \w, \w, T
    str     \w, [sp, #\to]
.endm

/* The square of the words at X to the frame's \to, by way of eight other words of the frame: products
   of two different halfwords once, then doubled. */
.macro square128 to, by
    keep_halfwords
    even    0, X
    fresh   odd, 0, r0
    fresh   odd, 1, r1
    fresh   odd, 2, r2
    fresh   odd, 3, r3
    lsls    T, r0, #17
    str     T, [sp, #\by]
    lsrs    r0, r0, #15
    even    1, X
    first   odd, 0, r1
    next    odd, 1, r2
    next    odd, 2, r3
    fresh_on odd, 3, r4
    lsls    T, r1, #17
    orrs    T, T, r0
    str     T, [sp, #\by + 4]
    lsrs    r1, r1, #15
    even    2, X
    first   odd, 0, r2
    next    odd, 1, r3
    next    odd, 2, r4
    fresh_on odd, 3, r0
    lsls    T, r2, #17
    orrs    T, T, r1
    str     T, [sp, #\by + 8]
    lsrs    r2, r2, #15
    even    3, X
    first   odd, 0, r3
    next    odd, 1, r4
    next    odd, 2, r0
    fresh_on odd, 3, r1
    lsls    T, r3, #17
    orrs    r2, r2, T
    lsls    T, r4, #17
    lsrs    r3, r3, #15
    orrs    r3, r3, T
    lsls    T, r0, #17
    lsrs    r4, r4, #15
    orrs    r4, r4, T
    lsls    T, r1, #17
    lsrs    r0, r0, #15
    orrs    r0, r0, T
    lsrs    r1, r1, #15
    add     X, sp, #\by + 12            /* words 6, 7, 3, 4 and 5 */
    stmia   X!, {r0-r4}
    even    0, X                        /* words 1 to 6: r0-r4, r7 */
    fresh   even, 1, r0
    fresh   even, 2, r1
    fresh   even, 3, r2
    even    1, X
    first   even, 2, r2
    fresh_on even, 3, r3
    even    2, X
    fresh   even, 3, r4
    odd     0, X
    first   odd, 1, r1
    next    odd, 2, r2
    next    odd, 3, r3
    odd     1, X
    next    odd, 3, r4
    odd     2, X
    fresh_on odd, 3, r7
    first   odd, 1, r3
    movs    T, #0
    adcs    r4, r4, T
    adcs    r7, r7, T
    even    0, X
    muls    X, X, X
    ldr     T, [sp, #\by]
    adds    X, X, T
    str     X, [sp, #\to]
    adcs    r0, r0, r0
    adcs    r1, r1, r1
    adcs    r2, r2, r2
    adcs    r3, r3, r3
    adcs    r4, r4, r4
    adcs    r7, r7, r7
    carry_to X
    odd     0, T
    muls    T, T, T
    adds    r0, r0, T
    next_square even, 1, r1
    next_square odd, 1, r2
    next_square even, 2, r3
    next_square odd, 2, r4
    next_square even, 3, r7
    next_square odd, 3, X               /* which leaves no carry */
    next_kept r0, \by + 4, \to + 4
    next_kept r1, \by + 8, \to + 8
    next_kept r2, \by + 20, \to + 12
    next_kept r3, \by + 24, \to + 16
    next_kept r4, \by + 28, \to + 20
    next_kept r7, \by + 12, \to + 24
    next_kept X, \by + 16, \to + 28
.endm

/* The frame's words at \to = |low half - high half| of the integer at P; r4 = all ones if the
   difference was negative. */
.macro difference to
    ldmia   P!, {r0-r6}
    ldr     P, [P]
    subs    r0, r0, r4
    sbcs    r1, r1, r5
    sbcs    r2, r2, r6
    sbcs    r3, r3, P
    sbcs    r4, r4
    eors    r0, r0, r4
    eors    r1, r1, r4
    eors    r2, r2, r4
    eors    r3, r3, r4
    movs    r5, #0
    lsrs    r6, r4, #1
    adcs    r0, r0, r5
    adcs    r1, r1, r5
    adcs    r2, r2, r5
    adcs    r3, r3, r5
    str     r0, [sp, #\to]
    str     r1, [sp, #\to + 4]
    str     r2, [sp, #\to + 8]
    str     r3, [sp, #\to + 12]
.endm

/* The registers that a function keeps for its caller. */
.macro enter
    push    {r4-r7, lr}
    mov     r4, r8
    mov     r5, r9
    mov     r6, r10
    mov     r7, r11
    push    {r4-r7}
.endm

.macro leave
    pop     {r4-r7}
    mov     r8, r4
    mov     r9, r5
    mov     r10, r6
    mov     r11, r7
    pop     {r4-r7, pc}
.endm

/* The same of parts of functions, which keep none: a frame and the arguments. */
.macro enter256
    push    {r0-r2, lr}
    sub     sp, #FRAME_BYTES
.endm

.macro leave256
    add     sp, #FRAME_BYTES + 12
    pop     {pc}
.endm

/* r1 = a, r2 = b: the products of which theirs is made, to the frame's LOW, HIGH and MIDDLE. It is
   LOW + 2^128 (LOW + HIGH +- MIDDLE) + 2^256 HIGH; + if SIGN is 0, - if it is all ones. */
.macro multiply256
    enter256
    mov     P, r2
    difference DIFFERENCE_B
    mov     r8, r4
    ldr     P, [sp, #A]
    difference DIFFERENCE_A
    mov     r5, r8
    eors    r4, r4, r5
    mvns    r4, r4                      /* equal signs: MIDDLE is subtracted */
    str     r4, [sp, #SIGN]
    add     P, sp, #DIFFERENCE_A
    add     X, sp, #DIFFERENCE_B
    product128 MIDDLE, HIGH
    ldr     P, [sp, #A]
    ldr     X, [sp, #B]
    product128 LOW, HIGH
    ldr     P, [sp, #A]
    ldr     X, [sp, #B]
    adds    P, #16
    adds    X, #16
    product128 HIGH, DIFFERENCE_A
.endm

/* r1 = a: the same of its square; MIDDLE is subtracted. */
.macro square256
    enter256
    mov     P, r1
    difference DIFFERENCE_A
    add     X, sp, #DIFFERENCE_A
    square128 MIDDLE, HIGH
    ldr     X, [sp, #A]
    square128 LOW, HIGH
    ldr     X, [sp, #A]
    adds    X, #16
    square128 HIGH, DIFFERENCE_A
.endm
