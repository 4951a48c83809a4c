/* The field of P-256 for RISC-V: elements are any number below 2^256, in Montgomery form. The prime
   is p = 2^256 - 2^224 + 2^192 + 2^96 - 1. Every function takes the same time for all operands. */
#include "field/multiply-riscv.inc"

/* Stores the result, and leaves a function. */
.macro leave_with w0, w1, w2, w3, w4, w5, w6, w7
    lw      T, OUT
    sw      \w0, 0(T)
    sw      \w1, 4(T)
    sw      \w2, 8(T)
    sw      \w3, 12(T)
    sw      \w4, 16(T)
    sw      \w5, 20(T)
    sw      \w6, 24(T)
    sw      \w7, 28(T)
    leave
.endm

/* Adds a word to column x, or subtracts it; C counts what the column carries, a signed number. */
#define C A3
.macro plus x, word
    add     \x, \x, \word
    sltu    T, \x, \word
    add     C, C, T
.endm

.macro minus x, word
    sltu    T, \x, \word
    sub     \x, \x, \word
    sub     C, C, T
.endm

/* Adds what the column before carries, which is not negative. */
.macro carry x
    add     \x, \x, C
    sltu    C, \x, C
.endm

.macro carry_signed x
    srai    T, C, 31
    add     \x, \x, C
    sltu    C, \x, C
    add     C, C, T
.endm

/* Adds multiples of p so that the lower words become 0: in word i that takes m_i = what the word is
   by then, since p is -1 modulo 2^96; it stays in the word's register. m_i is subtracted from column
   i, added to columns i + 3, i + 6 and i + 8, and subtracted from i + 7. The carry is below 2. */
.macro montgomery u0, u1, u2, u3, u4, u5, u6, u7
    add     R3, R3, R0
    sltu    C, R3, R0
    carry   R4
    plus    R4, R1
    carry   R5
    plus    R5, R2
    carry   R6
    plus    R6, R3
    plus    R6, R0
    carry   R7
    plus    R7, R4
    plus    R7, R1
    minus   R7, R0
    carry_signed \u0
    plus    \u0, R5
    plus    \u0, R2
    minus   \u0, R1
    plus    \u0, R0
    carry_signed \u1
    plus    \u1, R6
    plus    \u1, R3
    minus   \u1, R2
    plus    \u1, R1
    carry_signed \u2
    plus    \u2, R7
    plus    \u2, R4
    minus   \u2, R3
    plus    \u2, R2
    carry_signed \u3
    plus    \u3, R5
    minus   \u3, R4
    plus    \u3, R3
    carry_signed \u4
    plus    \u4, R6
    minus   \u4, R5
    plus    \u4, R4
    carry_signed \u5
    plus    \u5, R7
    minus   \u5, R6
    plus    \u5, R5
    carry_signed \u6
    minus   \u6, R7
    plus    \u6, R6
    carry_signed \u7
    plus    \u7, R7
    mv      U, C
    subtract_prime \u0, \u1, \u2, \u3, \u4, \u5, \u6, \u7
.endm

.macro add_mask word, mask
    add     \word, \word, \mask
    sltu    T, \word, \mask
    add     \word, \word, U
    sltu    U, \word, U
    or      U, U, T
.endm

/* Subtracts p from a number with the carry U above its words: adds 2^256 - p = 2^224 - 2^192 - 2^96
   + 1 if that is 1. U becomes the carry out of that, which leaves 2^256 to be counted again. */
.macro subtract_prime w0, w1, w2, w3, w4, w5, w6, w7
    neg     A4, U
    slli    A5, A4, 1
    .irp    word, \w0, \w1, \w2
    add     \word, \word, U
    sltu    U, \word, U
    .endr
    add_mask \w3, A4
    add_mask \w4, A4
    add_mask \w5, A4
    add_mask \w6, A5
    add     \w7, \w7, U
    sltu    U, \w7, U
.endm

.macro subtract_mask word, mask
    sltu    T, \word, \mask
    sub     \word, \word, \mask
    sltu    A6, \word, U
    sub     \word, \word, U
    or      U, T, A6
.endm

/* The same for a borrow, for which p is added. */
.macro add_prime
    neg     A4, U
    slli    A5, A4, 1
    .irp    word, R0, R1, R2
    sltu    T, \word, U
    sub     \word, \word, U
    mv      U, T
    .endr
    subtract_mask R3, A4
    subtract_mask R4, A4
    subtract_mask R5, A4
    subtract_mask R6, A5
    sltu    T, R7, U
    sub     R7, R7, U
    mv      U, T
.endm

/* void p256_multiply(uint32_t out[8], const uint32_t a[8], const uint32_t b[8])

   a b / 2^256 */
function p256_multiply
    enter
    sw      a0, OUT
    load_b  a2
    load_a  a1
    product
    montgomery UPPER
    leave_with UPPER

/* void p256_square(uint32_t out[8], const uint32_t a[8]) */
function p256_square
    enter
    sw      a0, OUT
    load_a  a1
    square_product
    montgomery SQUARE_UPPER
    leave_with SQUARE_UPPER

/* void p256_add(uint32_t out[8], const uint32_t a[8], const uint32_t b[8]) */
function p256_add
    enter
    sw      a0, OUT
    load_b  a2
    load_a  a1
    add_words
    subtract_prime R0, R1, R2, R3, R4, R5, R6, R7
    subtract_prime R0, R1, R2, R3, R4, R5, R6, R7
    leave_with R0, R1, R2, R3, R4, R5, R6, R7

/* void p256_subtract(uint32_t out[8], const uint32_t a[8], const uint32_t b[8]) */
function p256_subtract
    enter
    sw      a0, OUT
    load_b  a2
    load_a  a1
    subtract_words
    add_prime
    add_prime
    leave_with R0, R1, R2, R3, R4, R5, R6, R7
