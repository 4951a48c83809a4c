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

/* r4 = a lower word + 38 times the upper word in r1 + \c; \n = what exceeds it. r0 is 38, r7 is 0. */
.macro reduce_word c, n
    uxth    r2, r1
    lsrs    \n, r1, #16
    muls    r1, r0, r1                  /* the product's lower word */
    muls    r2, r0, r2
    muls    \n, r0, \n
    lsrs    r2, r2, #16
    adds    \n, \n, r2
    lsrs    \n, \n, #16                 /* its upper word */
    adds    r4, r4, \c
    adcs    \n, \n, r7
    adds    r4, r4, r1
    adcs    \n, \n, r7
.endm

/* Reduces the product as combine leaves it modulo 2^256 - 38, to out: word by word, with 38 times an
   upper word in two parts. r6 may be negative; what it is added to is then greater. */
.macro reduce
    movs    r0, #38
    movs    r7, #0
    muls    r5, r0, r5
    muls    r6, r0, r6
    mov     r1, r8
    ldr     r4, [sp, #LOW]
    reduce_word r5, r3
    mov     r8, r4
    mov     r1, r9
    ldr     r4, [sp, #LOW + 4]
    reduce_word r3, r5
    mov     r9, r4
    mov     r1, r10
    ldr     r4, [sp, #LOW + 8]
    reduce_word r5, r3
    mov     r10, r4
    mov     r1, r11
    ldr     r4, [sp, #LOW + 12]
    reduce_word r3, r5
    mov     r11, r4
    adds    r5, r5, r6
    ldr     r1, [sp, #HIGH + 16]
    ldr     r4, [sp, #LOW + 16]
    reduce_word r5, r3
    mov     r12, r4
    ldr     r1, [sp, #HIGH + 20]
    ldr     r4, [sp, #LOW + 20]
    reduce_word r3, r5
    mov     lr, r4
    ldr     r1, [sp, #HIGH + 24]
    ldr     r4, [sp, #LOW + 24]
    reduce_word r5, r3
    mov     r6, r4
    ldr     r1, [sp, #HIGH + 28]
    ldr     r4, [sp, #LOW + 28]
    reduce_word r3, r5
    ldr     r0, [sp, #OUT]
    put_reduced
.endm

/* The parts of the functions below. */
function multiply_part
    multiply256
    reduce
    leave256

function square_part
    square256
    reduce
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

/* *r0 = *r1 + *r2, or their difference, if both are below 2^255 + 2^12: 38 once makes up for a carry,
   after which the rest is small, or for a borrow, after which it is not. */
function add_part
    ldmia   r1!, {r3-r6}
    .irp    w, 3, 4, 5, 6
    ldr     r7, [r2, #4 * \w - 12]
    .if     \w == 3
    adds    r\w, r\w, r7
    .else
    adcs    r\w, r\w, r7
    .endif
    .endr
    stmia   r0!, {r3-r6}
    ldmia   r1!, {r3-r6}
    .irp    w, 3, 4, 5, 6
    ldr     r7, [r2, #4 * \w + 4]
    adcs    r\w, r\w, r7
    .endr
    stmia   r0!, {r3-r6}
    movs    r7, #0
    adcs    r7, r7
    movs    r3, #38
    muls    r7, r3, r7
    subs    r0, #32
    ldr     r3, [r0]
    adds    r3, r3, r7
    str     r3, [r0]
    bx      lr

function subtract_part
    ldmia   r1!, {r3-r6}
    .irp    w, 3, 4, 5, 6
    ldr     r7, [r2, #4 * \w - 12]
    .if     \w == 3
    subs    r\w, r\w, r7
    .else
    sbcs    r\w, r\w, r7
    .endif
    .endr
    mov     r8, r3
    mov     r9, r4
    mov     r10, r5
    mov     r11, r6
    ldmia   r1!, {r3-r6}
    .irp    w, 3, 4, 5, 6
    ldr     r7, [r2, #4 * \w + 4]
    sbcs    r\w, r\w, r7
    .endr
    sbcs    r7, r7
    movs    r1, #38
    ands    r1, r1, r7
    movs    r7, #0
    mov     r2, r8
    subs    r2, r2, r1
    mov     r1, r9
    sbcs    r1, r1, r7
    stmia   r0!, {r2}
    stmia   r0!, {r1}
    mov     r2, r10
    mov     r1, r11
    sbcs    r2, r2, r7
    sbcs    r1, r1, r7
    sbcs    r3, r3, r7
    sbcs    r4, r4, r7
    sbcs    r5, r5, r7
    sbcs    r6, r6, r7
    stmia   r0!, {r2}
    stmia   r0!, {r1, r3-r6}
    bx      lr

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
   and x1 are below 2^255 + 2^12, and stay so: swaps the two points if swap is all ones, then doubles the
   first and adds it to the second. */
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

/* Behind a sum of two elements: their difference to the element behind. */
.macro difference_too
    adds    r0, #32
    subs    r1, #32
    bl      subtract_part
.endm

function p25519_step
    enter
    mov     r2, r1
    mov     r1, r0
    adds    r1, #64
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
    push    {r1}                        /* x1 */
    do      add_part, FA, PX, PZ
    difference_too
    do      add_part, FC, QX, QZ
    difference_too
    do      multiply_part, FD, FD, FA
    do      multiply_part, FC, FC, FB
    do      square_part, FA, FA
    do      square_part, FB, FB
    do      add_part, QX, FD, FC
    do      subtract_part, FC, FD, FC
    do      square_part, QX, QX
    do      square_part, FC, FC
    do      multiply_part, QZ, FC, X1
    do      multiply_part, PX, FA, FB
    do      subtract_part, FB, FA, FB
    do      a24_part, FC, FB
    do      add_part, FC, FC, FA
    do      multiply_part, PZ, FB, FC
    add     sp, #4
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
