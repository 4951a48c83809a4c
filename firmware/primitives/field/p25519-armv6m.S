/* The field of 2^255 - 19 elements (RFC 7748) for ARMv6-M. Elements are eight words, any number below
   2^256: 2^256 = 38. Every function takes the same time for all operands. */
#include "field/multiply-armv6m.S"

/* r8-r11, r12, lr, r6, r4 and r5, nine words, modulo 2^255 - 19 to *r0, below 2^255 + 2^12. r7 is 0. */
.macro put_reduced
    adds    r4, r4, r4                  /* what exceeds 255 bits */
    adcs    r5, r5
    lsrs    r4, r4, #1
    movs    r1, #19
    muls    r5, r1, r5
    mov     r1, r8
    mov     r2, r9
    mov     r3, r10
    adds    r1, r1, r5
    adcs    r2, r2, r7
    adcs    r3, r3, r7
    mov     r5, r11
    adcs    r5, r5, r7
    stmia   r0!, {r1-r3, r5}
    mov     r1, r12
    mov     r2, lr
    adcs    r1, r1, r7
    adcs    r2, r2, r7
    adcs    r6, r6, r7
    adcs    r4, r4, r7
    stmia   r0!, {r1, r2}
    str     r6, [r0]
    str     r4, [r0, #4]
.endm

/* w += 38 times the word in x, which is lost, and the carry in c, which becomes the next. k is 38; z
   is 0, or e becomes it. */
.macro add_38 w, x, e, c, k, z
    uxth    \e, \x
    muls    \e, \k, \e
    adds    \e, \e, \c
    lsrs    \x, \x, #16
    muls    \x, \k, \x
    lsrs    \c, \x, #16
    lsls    \x, \x, #16
    adds    \w, \w, \e
    .ifb    \z
    movs    \e, #0
    adcs    \c, \c, \e
    adds    \w, \w, \x
    adcs    \c, \c, \e
    .else
    adcs    \c, \c, \z
    adds    \w, \w, \x
    adcs    \c, \c, \z
    .endif
.endm

/* Four words += or -= half of MIDDLE, with the carry; \t and \sign are spoilt. */
.macro add_middle at, subtracted, t, sign, words:vararg
    .set    at, MIDDLE + \at
    .irp    w, \words
    ldr     \t, [sp, #at]
    .if     \subtracted
    sbcs    \w, \w, \t
    .else
    eors    \t, \t, \sign
    adcs    \w, \w, \t
    .endif
    .set    at, at + 4
    .endr
.endm

/* Reduces the product or, if MIDDLE is subtracted, the square modulo 2^255 - 19, to out, below 2^255 +
   2^135.

   Of its quarters W0 to W3, upper ones count 38. W1 + 38 W3 is first: what exceeds 255 bits counts
   19 in W0 + 38 W2. What that leaves, and what W2 left, is small, and added to the former. c1 is what
   W1 leaves, to W2; c2 what W2 leaves. */
.macro reduce subtracted
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
    ldr     r4, [sp, #LOW]              /* W1 = t + LOW's low half +- MIDDLE's low half */
    adds    r0, r0, r4
    .irp    w, 1, 2, 3
    ldr     r4, [sp, #LOW + 4 * \w]
    adcs    r\w, r\w, r4
    .endr
    movs    r5, #0
    adcs    r5, r5, r7                  /* c1, with t's carry */
    .if     \subtracted
    cmp     r5, r5                      /* the carry */
    .else
    ldr     r6, [sp, #SIGN]
    lsrs    r4, r6, #1                  /* the carry, if SIGN is not 0 */
    .endif
    add_middle 0, \subtracted, r4, r6, r0, r1, r2, r3
    movs    r4, #0
    adcs    r5, r5, r4
    mov     r12, r5
    mov     lr, r7
    movs    r7, #38
    movs    r6, #0
    .irp    w, 0, 1, 2, 3               /* W1 + 38 W3; W3 = HIGH's high half */
    ldr     r4, [sp, #HIGH + 16 + 4 * \w]
    add_38  r\w, r4, r5, r6, r7
    .endr
    adds    r3, r3, r3                  /* what exceeds 255 bits, 19 times, and 38 c1 */
    adcs    r6, r6
    lsrs    r3, r3, #1
    movs    r5, #19
    muls    r6, r5, r6
    mov     r5, r12
    muls    r5, r7, r5
    adds    r6, r6, r5
    mov     r12, r6
    mov     r4, r8
    mov     r8, r0
    mov     r5, r9
    mov     r9, r1
    mov     r6, r10
    mov     r10, r2
    mov     r7, r11
    mov     r11, r3
    ldr     r0, [sp, #HIGH + 16]        /* W2 = t + HIGH's high half +- MIDDLE's high half */
    adds    r4, r4, r0
    .irp    w, 5, 6, 7
    ldr     r0, [sp, #HIGH + 4 * \w]
    adcs    r\w, r\w, r0
    .endr
    mov     r1, lr
    movs    r2, #0
    adcs    r1, r1, r2                  /* c2, which leaves no carry */
    .if     \subtracted == 0
    ldr     r2, [sp, #SIGN]
    .endif
    add_middle 16, \subtracted, r0, r2, r4, r5, r6, r7
    .if     \subtracted
    sbcs    r1, r1, r2
    .else
    adcs    r1, r1, r2
    .endif
    mov     lr, r1
    mov     r2, r12
    movs    r3, #38
    ldr     r0, [sp, #LOW]              /* W0 + 38 W2 */
    add_38  r0, r4, r1, r2, r3
    ldr     r4, [sp, #OUT]
    stmia   r4!, {r0}
    ldr     r0, [sp, #LOW + 4]
    add_38  r0, r5, r1, r2, r3
    stmia   r4!, {r0}
    movs    r5, #0
    ldr     r0, [sp, #LOW + 8]
    add_38  r0, r6, r1, r2, r3, r5
    stmia   r4!, {r0}
    ldr     r0, [sp, #LOW + 12]
    add_38  r0, r7, r1, r2, r3, r5
    stmia   r4!, {r0}
    mov     r1, lr
    muls    r1, r3, r1
    adds    r2, r2, r1
    mov     r0, r8
    adds    r0, r0, r2
    mov     r1, r9
    adcs    r1, r1, r5
    mov     r2, r10
    adcs    r2, r2, r5
    mov     r3, r11
    adcs    r3, r3, r5
    stmia   r4!, {r0-r3}
.endm

/* The parts of the functions below. */
function multiply_part
    multiply256
    reduce  0
    leave256

function square_part
    square256
    reduce  1
    leave256

/* out = 121665 a; 121665 = 2^16 + 56129. The product of a word is that of its lower half, 2^16 times the
   word and that of its upper half. */
.macro a24_word c, n
    ldmia   r1!, {r2}
    uxth    r4, r2
    muls    r4, r3, r4
    lsrs    \n, r2, #16
    muls    \n, r3, \n                  /* with the word, below 2^33: in r7 and \n */
    movs    r7, #0
    adds    \n, \n, r2
    adcs    r7, r7
    lsls    r7, r7, #16
    lsls    r2, \n, #16
    lsrs    \n, \n, #16
    orrs    \n, \n, r7
    movs    r7, #0
    adds    r4, r4, \c
    adcs    \n, \n, r7
    adds    r4, r4, r2
    adcs    \n, \n, r7
.endm

function a24_part
    push    {lr}
    ldr     r3, =56129
    movs    r5, #0                      /* what the words so far leave */
    a24_word r5, r6
    mov     r8, r4
    a24_word r6, r5
    mov     r9, r4
    a24_word r5, r6
    mov     r10, r4
    a24_word r6, r5
    mov     r11, r4
    a24_word r5, r6
    mov     r12, r4
    a24_word r6, r5
    mov     lr, r4
    a24_word r5, r6
    push    {r4}
    a24_word r6, r5
    pop     {r6}
    put_reduced
    pop     {pc}
    .ltorg

/* *r0 = *r1 + *r2, or their difference, if both are below 2^255 + 2^135: 38 once makes up for a carry,
   after which the rest is small, or for a borrow, after which it is not. */
.macro sum_or_difference first, next, wanted
    ldmia   r1!, {r3-r6}
    .irp    w, 3, 4, 5, 6
    ldr     r7, [r2, #4 * \w - 12]
    .if     \w == 3
    \first  r\w, r\w, r7
    .else
    \next   r\w, r\w, r7
    .endif
    .endr
    mov     r8, r3
    mov     r9, r4
    mov     r10, r5
    mov     r11, r6
    ldmia   r1!, {r3-r6}
    .irp    w, 3, 4, 5, 6
    ldr     r7, [r2, #4 * \w + 4]
    \next   r\w, r\w, r7
    .endr
    movs    r1, #38
    sbcs    r7, r7
    \wanted r1, r1, r7
    movs    r7, #0
    mov     r2, r8
    \first  r2, r2, r1
    mov     r1, r9
    \next   r1, r1, r7
    stmia   r0!, {r2}
    stmia   r0!, {r1}
    mov     r2, r10
    mov     r1, r11
    \next   r2, r2, r7
    \next   r1, r1, r7
    \next   r3, r3, r7
    \next   r4, r4, r7
    \next   r5, r5, r7
    \next   r6, r6, r7
    stmia   r0!, {r2}
    stmia   r0!, {r1, r3-r6}
    bx      lr
.endm

function add_part
    sum_or_difference adds, adcs, bics

function subtract_part
    sum_or_difference subs, sbcs, ands

/* void p25519_multiply(uint32_t out[8], const uint32_t a[8], const uint32_t b[8]); */
function p25519_multiply
    enter
    bl      multiply_part
    leave

/* void p25519_square(uint32_t out[8], const uint32_t a[8]); */
function p25519_square
    enter
    bl      square_part
    leave

/* void p25519_square_times(uint32_t out[8], const uint32_t a[8], uint32_t count, const uint32_t b[8])

   out = a^(2^count) * b, for a count that is not 0 and no secret. */
function p25519_square_times
    enter
    push    {r0, r2, r3}                /* out, what is left to do, b */
    sub     sp, #32
    mov     r0, sp
1:  bl      square_part
    mov     r0, sp
    mov     r1, r0
    ldr     r2, [sp, #36]
    subs    r2, #1
    str     r2, [sp, #36]
    bne     1b
    ldr     r0, [sp, #32]
    ldr     r2, [sp, #40]
    bl      multiply_part
    add     sp, #44
    leave

/* void p25519_multiply_a24(uint32_t out[8], const uint32_t a[8]); */
function p25519_multiply_a24
    enter
    bl      a24_part
    leave

/* void p25519_step(uint32_t l[9][8], uint32_t swap)

   A step of RFC 7748's ladder for the elements of x25519-ladder.h's structure, of which px, pz, qx, qz
   and x1 are below 2^255 + 2^135, and stay so: swaps the two points if swap is all ones, then doubles
   the first and adds it to the second. That sum is the same if they are not swapped: the products in
   it change places, and their difference its sign, before it is squared. So only what is doubled is
   chosen. */
#define PX -128
#define PZ -96
#define QX -64
#define QZ -32
#define X1 0
#define FA 32
#define FB 64
#define FC 96
#define FD 128

.macro pointer r, to
    .if     \to < 0
    subs    \r, #-(\to)
    .elseif \to > 0
    adds    \r, #\to
    .endif
.endm

.macro do what, out, a, b
    ldr     r0, [sp]
    mov     r1, r0
    .ifnb   \b
    mov     r2, r0
    pointer r2, \b
    .endif
    pointer r1, \a
    pointer r0, \out
    bl      \what
.endm

/* Two more words at r0 become those at r1, if r2 is all ones, not if it is 0. */
.macro choose
    ldmia   r1!, {r5, r6}
    ldr     r3, [r0]
    ldr     r4, [r0, #4]
    eors    r5, r5, r3
    eors    r6, r6, r4
    ands    r5, r5, r2
    ands    r6, r6, r2
    eors    r5, r5, r3
    eors    r6, r6, r4
    stmia   r0!, {r5, r6}
.endm

function p25519_step
    enter
    adds    r0, #128
    push    {r0, r1}                    /* x1, swap */
    do      add_part, FA, PX, PZ
    do      subtract_part, FB, PX, PZ
    do      add_part, FC, QX, QZ
    do      subtract_part, FD, QX, QZ
    do      multiply_part, PX, FD, FA
    do      multiply_part, PZ, FC, FB
    ldr     r0, [sp]
    ldr     r2, [sp, #4]
    mov     r1, r0
    pointer r1, FC
    pointer r0, FA
    .rept   8
    choose
    .endr
    do      square_part, FA, FA
    do      square_part, FB, FB
    do      add_part, QX, PX, PZ
    do      subtract_part, FC, PX, PZ
    do      square_part, QX, QX
    do      square_part, FC, FC
    do      multiply_part, QZ, FC, X1
    do      multiply_part, PX, FA, FB
    do      subtract_part, FB, FA, FB
    do      a24_part, FC, FB
    do      add_part, FC, FC, FA
    do      multiply_part, PZ, FB, FC
    add     sp, #8
    leave

/* Adds r5 = small number times 2^256 to the words at r0, modulo 2^256 - 38. If the sum exceeds 256
   bits, the rest is small, and adding 38 more does not exceed them. */
.macro fold
    movs    r6, #38
    muls    r5, r6, r5
    mov     r7, r0
    ldmia   r0!, {r1-r4}
    adds    r1, r1, r5
    movs    r5, #0
    adcs    r2, r2, r5
    adcs    r3, r3, r5
    adcs    r4, r4, r5
    mov     r12, r1
    stmia   r7!, {r1-r4}
    ldmia   r0!, {r1-r4}
    adcs    r1, r1, r5
    adcs    r2, r2, r5
    adcs    r3, r3, r5
    adcs    r4, r4, r5
    stmia   r7!, {r1-r4}
    sbcs    r5, r5
    bics    r6, r6, r5                  /* 38 if a carry is left */
    add     r6, r12
    subs    r7, #32
    str     r6, [r7]
.endm

/* r0 = out, r1 = a, r2 = b: their sum or difference to out, in two halves of four words; then the carry
   or borrow in r5 as all ones. */
.macro each_half first, next, at
    ldmia   r1!, {r3-r6}
    ldr     r7, [r2, #\at]
    \first  r3, r3, r7
    ldr     r7, [r2, #\at + 4]
    \next   r4, r4, r7
    ldr     r7, [r2, #\at + 8]
    \next   r5, r5, r7
    ldr     r7, [r2, #\at + 12]
    \next   r6, r6, r7
    stmia   r0!, {r3-r6}
.endm

/* void p25519_add(uint32_t out[8], const uint32_t a[8], const uint32_t b[8]); */
function p25519_add
    push    {r4-r7, lr}
    each_half adds, adcs, 0
    each_half adcs, adcs, 16
    movs    r5, #0
    adcs    r5, r5
    subs    r0, #32
    fold
    pop     {r4-r7, pc}

/* void p25519_subtract(uint32_t out[8], const uint32_t a[8], const uint32_t b[8]);

   2^256 too much if it borrowed: subtract 38, and again if that borrows. */
function p25519_subtract
    push    {r4-r7, lr}
    each_half subs, sbcs, 0
    each_half sbcs, sbcs, 16
    sbcs    r6, r6
    movs    r7, #38
    ands    r6, r6, r7
    subs    r0, #32
    mov     r1, r0
    movs    r7, #0
    ldmia   r0!, {r2-r5}
    subs    r2, r2, r6
    sbcs    r3, r3, r7
    sbcs    r4, r4, r7
    sbcs    r5, r5, r7
    mov     r12, r2
    stmia   r1!, {r2-r5}
    ldmia   r0!, {r2-r5}
    sbcs    r2, r2, r7
    sbcs    r3, r3, r7
    sbcs    r4, r4, r7
    sbcs    r5, r5, r7
    stmia   r1!, {r2-r5}
    sbcs    r6, r6
    movs    r7, #38
    ands    r6, r6, r7
    mov     r2, r12
    subs    r2, r2, r6
    subs    r1, #32
    str     r2, [r1]
    pop     {r4-r7, pc}

/* void p25519_swap(uint32_t a[16], uint32_t b[16], uint32_t mask)

   Swaps if mask is all ones, not if it is 0. */
function p25519_swap
    push    {r4-r7, lr}
    .rept   8
    ldmia   r0!, {r3, r4}
    ldmia   r1!, {r5, r6}
    mov     r7, r3
    eors    r7, r7, r5
    ands    r7, r7, r2
    eors    r3, r3, r7
    eors    r5, r5, r7
    mov     r7, r4
    eors    r7, r7, r6
    ands    r7, r7, r2
    eors    r4, r4, r7
    eors    r6, r6, r7
    subs    r0, #8
    subs    r1, #8
    stmia   r0!, {r3, r4}
    stmia   r1!, {r5, r6}
    .endr
    pop     {r4-r7, pc}

/* A division step but for doubling f's row: r0 is f, r1 g, r2 and r3 the rows of the matrix that make
   them, u + 2^16 v and q + 2^16 r, r4 -delta - 1/2. */
.macro division_step
    asrs    r5, r4, #31                 /* all ones if delta is positive */
    lsls    r6, r1, #31
    asrs    r6, r6, #31                 /* all ones if g is odd */
    mov     r7, r0
    eors    r7, r7, r5
    subs    r7, r7, r5
    ands    r7, r7, r6
    adds    r1, r1, r7
    mov     r7, r2
    eors    r7, r7, r5
    subs    r7, r7, r5
    ands    r7, r7, r6
    adds    r3, r3, r7
    ands    r5, r5, r6                  /* f becomes g, and delta changes its sign */
    eors    r4, r4, r5
    subs    r4, #1
    mov     r7, r1
    ands    r7, r7, r5
    adds    r0, r0, r7
    ands    r5, r5, r3
    adds    r2, r2, r5
    asrs    r1, r1, #1
.endm

function division_steps_part
    .rept   4
    division_step
    lsls    r2, r2, #1
    .endr
    division_step
    bx      lr

/* The next limbs of two numbers, at r7 + 4, to those at r7: r0 and r1 are what carries, r8, r9, r5 and
   r6 the matrix. */
.macro transform_limbs
    ldr     r2, [r7, #4]
    sxth    r3, r2
    asrs    r2, r2, #16
    mov     r4, r8
    muls    r4, r3, r4
    adds    r0, r0, r4
    mov     r4, r9
    muls    r4, r2, r4
    adds    r0, r0, r4
    muls    r3, r5, r3
    adds    r1, r1, r3
    muls    r2, r6, r2
    adds    r1, r1, r2
    lsls    r2, r0, #17
    lsrs    r2, r2, #17
    lsls    r3, r1, #17
    lsrs    r3, r3, #1
    orrs    r2, r2, r3
    stmia   r7!, {r2}
    asrs    r0, r0, #15
    asrs    r1, r1, #15
.endm

/* \sum += k (2^255 - 19), for the k that makes it a multiple of 2^15: the lowest limb, of which is kept
   what carries. \k = k; \k was 1 / 19. r2 is 19. */
.macro clear_limb sum, k
    muls    \k, \sum, \k
    lsls    \k, \k, #17
    asrs    \k, \k, #17
    .ifc    \k, r3
    mov     r10, \k
    .else
    mov     r11, \k
    .endif
    muls    \k, r2, \k
    subs    \sum, \sum, \k
    asrs    \sum, \sum, #15
.endm

/* (x, y) = (u x + v y, q x + r y) / 2^15 modulo 2^255 - 19, for the two numbers at r7. */
function transform_part
    ldr     r2, [r7]
    sxth    r3, r2
    asrs    r2, r2, #16
    mov     r0, r8
    muls    r0, r3, r0
    mov     r4, r9
    muls    r4, r2, r4
    adds    r0, r0, r4
    muls    r3, r5, r3
    muls    r2, r6, r2
    adds    r1, r3, r2
    ldr     r4, =18971                  /* 1 / 19 modulo 2^15 */
    mov     r3, r4
    movs    r2, #19
    clear_limb r0, r3
    clear_limb r1, r4
    mov     r4, r7
    adds    r4, #64
    mov     r12, r4
1:  .rept   4
    transform_limbs
    .endr
    cmp     r7, r12
    bne     1b
    add     r0, r10
    add     r1, r11
    transform_limbs
    uxth    r0, r0
    lsls    r1, r1, #16
    orrs    r0, r0, r1
    str     r0, [r7]
    bx      lr
    .ltorg

/* void p25519_divide(int16_t f_g[18][2], int16_t d_e[18][2])

   Numbers have limbs of 15 bits, of which the last has the sign. Division steps (Bernstein and Yang,
   "Fast constant-time gcd computation and modular inversion", 2019) from delta = 1/2 until g, which is
   not above f, is 0, and the same for d and e modulo 2^255 - 19. 590 steps do for numbers of 256 bits
   (P. Wuille, github.com/sipa/safegcd-bounds); here they are 40 times 15. The matrix of 15 steps fits 16
   bits with f's row halved: that row is even, and the determinant is 2^15 or -2^15. */
function p25519_divide
    enter
    movs    r2, #0
    mvns    r2, r2
    movs    r3, #40
    push    {r0-r3}
1:  ldr     r7, [sp]
    ldr     r1, [r7]
    sxth    r0, r1
    asrs    r1, r1, #16
    movs    r2, #1
    lsls    r3, r2, #16
    ldr     r4, [sp, #8]
    bl      division_steps_part
    lsls    r2, r2, #1
    bl      division_steps_part
    lsls    r2, r2, #1
    bl      division_steps_part
    str     r4, [sp, #8]
    sxth    r4, r2
    subs    r2, r2, r4
    lsls    r4, r4, #1
    mov     r8, r4
    asrs    r2, r2, #15
    mov     r9, r2
    sxth    r5, r3
    subs    r6, r3, r5
    asrs    r6, r6, #16
    ldr     r7, [sp]
    bl      transform_part
    ldr     r7, [sp, #4]
    bl      transform_part
    ldr     r0, [sp, #12]
    subs    r0, #1
    str     r0, [sp, #12]
    bne     1b
    add     sp, #16
    leave
