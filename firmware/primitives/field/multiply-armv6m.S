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
   differences; the differences; the sign; what product128 keeps; the arguments. */
#define LOW 0
#define HIGH 32
#define MIDDLE 64
#define DIFFERENCE_A 96
#define DIFFERENCE_B 112
#define SIGN 128
#define BE2 132
#define BE3 136
#define CROSS 140
#define FRAME_BYTES 152
#define OUT 152
#define A 156
#define B 160

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

.macro rows_crossed at, w0, w1, w2, w3, w4
    ldrh    X, [P, #\at]
    row     odd, \w0, \w1, \w2, \w3
    ldrh    X, [P, #\at + 2]
    row     even, \w0, \w1, \w2, \w3
    carry_to \w4
.endm

/* w = w 2^n + the upper bits of another word times 2^n. */
.macro shift_in w, from, n
    lsls    \w, \w, #\n
    lsrs    T, \from, #32 - \n
    orrs    \w, \w, T
.endm

/* The frame's words at \to += 2^n times: CROSS's three words, r3, r4, r0, r1, r2. */
.macro add_crossed to, n
    shift_in r2, r1, \n
    mov     r11, r2
    shift_in r1, r0, \n
    mov     r10, r1
    shift_in r0, r4, \n
    mov     r9, r0
    shift_in r4, r3, \n
    ldr     r2, [sp, #CROSS + 8]
    shift_in r3, r2, \n
    ldr     r1, [sp, #CROSS + 4]
    shift_in r2, r1, \n
    ldr     r0, [sp, #CROSS]
    shift_in r1, r0, \n
    lsls    r0, r0, #\n
    ldr     T, [sp, #\to]
    adds    r0, r0, T
    str     r0, [sp, #\to]
    .irp    w, 1, 2, 3, 4
    ldr     T, [sp, #\to + 4 * \w]
    adcs    r\w, r\w, T
    str     r\w, [sp, #\to + 4 * \w]
    .endr
    mov     r1, r9
    mov     r2, r10
    mov     r3, r11
    .irp    w, 1, 2, 3
    ldr     T, [sp, #\to + 16 + 4 * \w]
    adcs    r\w, r\w, T
    str     r\w, [sp, #\to + 16 + 4 * \w]
    .endr
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

/* The words at P times those at X to the frame's \to. */
.macro product128 to
    keep_halfwords
    ldrh    X, [P, #0]
    fresh   even, 0, r0
    fresh   even, 1, r1
    fresh   even, 2, r2
    fresh   even, 3, r3
    ldrh    X, [P, #2]
    first   odd, 0, r1
    next    odd, 1, r2
    next    odd, 2, r3
    fresh   odd, 3, r4
    movs    T, #0
    adcs    r4, r4, T
    str     r0, [sp, #\to]
    rows_straight 4, r1, r2, r3, r4, r0
    str     r1, [sp, #\to + 4]
    rows_straight 8, r2, r3, r4, r0, r1
    str     r2, [sp, #\to + 8]
    rows_straight 12, r3, r4, r0, r1, r2
    str     r3, [sp, #\to + 12]
    str     r4, [sp, #\to + 16]
    str     r0, [sp, #\to + 20]
    str     r1, [sp, #\to + 24]
    str     r2, [sp, #\to + 28]
    ldrh    X, [P, #0]
    fresh   odd, 0, r0
    fresh   odd, 1, r1
    fresh   odd, 2, r2
    fresh   odd, 3, r3
    ldrh    X, [P, #2]
    row     even, r0, r1, r2, r3
    carry_to r4
    str     r0, [sp, #CROSS]
    rows_crossed 4, r1, r2, r3, r4, r0
    str     r1, [sp, #CROSS + 4]
    rows_crossed 8, r2, r3, r4, r0, r1
    str     r2, [sp, #CROSS + 8]
    rows_crossed 12, r3, r4, r0, r1, r2
    add_crossed \to, 16
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

/* The square of the words at X to the frame's \to: products of two different halfwords once, then
   doubled. */
.macro square128 to
    keep_halfwords
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
    adds    r0, r0, r0
    adcs    r1, r1, r1
    adcs    r2, r2, r2
    adcs    r3, r3, r3
    adcs    r4, r4, r4
    adcs    r7, r7, r7
    carry_to X
    even    0, T
    muls    T, T, T
    str     T, [sp, #\to]
    odd     0, T
    muls    T, T, T
    adds    r0, r0, T
    next_square even, 1, r1
    next_square odd, 1, r2
    next_square even, 2, r3
    next_square odd, 2, r4
    next_square even, 3, r7
    next_square odd, 3, X
    str     r0, [sp, #\to + 4]
    str     r1, [sp, #\to + 8]
    str     r2, [sp, #\to + 12]
    str     r3, [sp, #\to + 16]
    str     r4, [sp, #\to + 20]
    str     r7, [sp, #\to + 24]
    str     X, [sp, #\to + 28]
    even    0, X
    fresh   odd, 0, r0
    fresh   odd, 1, r1
    fresh   odd, 2, r2
    fresh   odd, 3, r3
    str     r0, [sp, #CROSS]
    even    1, X
    first   odd, 0, r1
    next    odd, 1, r2
    next    odd, 2, r3
    fresh_on odd, 3, r4
    str     r1, [sp, #CROSS + 4]
    even    2, X
    first   odd, 0, r2
    next    odd, 1, r3
    next    odd, 2, r4
    fresh_on odd, 3, r0
    str     r2, [sp, #CROSS + 8]
    even    3, X
    first   odd, 0, r3
    next    odd, 1, r4
    next    odd, 2, r0
    fresh_on odd, 3, r1
    movs    r2, #0
    add_crossed \to, 17
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

/* The product is LOW + 2^128 (LOW + HIGH +- MIDDLE) + 2^256 HIGH; + if SIGN or
   the argument is 0, - if it is all ones.
   Afterwards words 0 to 7 are at LOW, 8 to 11 in r8-r11, and 12 to 15 at HIGH + 16, less what carries
   from word 7 to 8, in r5, and from word 11 to 12, in r6: the field's reduction adds those. */
.macro combine sign
    add     r7, sp, #LOW + 16
    ldmia   r7!, {r0-r3}
    ldmia   r7!, {r4-r6}                /* t = r0-r3 = LOW's high half + HIGH's low half */
    ldr     r7, [r7]
    adds    r0, r0, r4
    adcs    r1, r1, r5
    adcs    r2, r2, r6
    adcs    r3, r3, r7
    carry_to r7
    mov     r8, r0
    mov     r9, r1
    mov     r10, r2
    mov     r11, r3
    .irp    w, 0, 1, 2, 3
    ldr     r4, [sp, #LOW + 4 * \w]
    .if     \w
    adcs    r\w, r\w, r4
    .else
    adds    r\w, r\w, r4
    .endif
    .endr
    mov     r5, r7                      /* t's carry and this one */
    movs    r4, #0
    adcs    r5, r5, r4
    .ifb    \sign
    ldr     r6, [sp, #SIGN]
    lsrs    r4, r6, #1                  /* the carry, if SIGN is not 0 */
    .else
    movs    r6, #0
    cmp     r6, r6
    mvns    r6, r6
    .endif
    .irp    w, 0, 1, 2, 3
    ldr     r4, [sp, #MIDDLE + 4 * \w]
    eors    r4, r4, r6
    adcs    r\w, r\w, r4
    str     r\w, [sp, #LOW + 16 + 4 * \w]
    .endr
    movs    r4, #0
    adcs    r5, r5, r4
    mov     r0, r8
    mov     r1, r9
    mov     r2, r10
    mov     r3, r11
    .irp    w, 0, 1, 2, 3
    ldr     r4, [sp, #HIGH + 16 + 4 * \w]
    .if     \w
    adcs    r\w, r\w, r4
    .else
    adds    r\w, r\w, r4
    .endif
    .endr
    movs    r4, #0
    adcs    r7, r7, r4                  /* t's carry and this one */
    .irp    w, 0, 1, 2, 3
    ldr     r4, [sp, #MIDDLE + 16 + 4 * \w]
    eors    r4, r4, r6
    .if     \w
    adcs    r\w, r\w, r4
    .else
    adds    r\w, r\w, r4
    .endif
    .endr
    mov     r8, r0
    mov     r9, r1
    mov     r10, r2
    mov     r11, r3
    adcs    r6, r6, r7
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

/* r0 = out, r1 = a, r2 = b: the product as combine leaves it. */
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
    product128 MIDDLE
    ldr     P, [sp, #A]
    ldr     X, [sp, #B]
    product128 LOW
    ldr     P, [sp, #A]
    ldr     X, [sp, #B]
    adds    P, #16
    adds    X, #16
    product128 HIGH
    combine
.endm

/* r0 = out, r1 = a: the square as combine leaves it. */
.macro square256
    enter256
    mov     P, r1
    difference DIFFERENCE_A
    add     X, sp, #DIFFERENCE_A
    square128 MIDDLE
    ldr     X, [sp, #A]
    square128 LOW
    ldr     X, [sp, #A]
    adds    X, #16
    square128 HIGH
    combine -1                          /* a square of a difference is subtracted */
.endm
