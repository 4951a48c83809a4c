/* The field of 2^255 - 19 elements for RISC-V with a multiplier of one cycle: elements are 8 words, any
   number below 2^256; 2^256 = 38. There are no carries but those of comparisons. Every function takes
   the same time for all operands. */
#include "riscv.inc"

#define A0 a3
#define A1 a4
#define A2 a5
#define A3 a6
#define A4 a7
#define A5 t0
#define A6 t1
#define A7 a1
#define B0 t2
#define B1 t3
#define B2 t4
#define B3 t5
#define B4 t6
#define B5 s0
#define B6 s1
#define B7 a2
#define T s2
#define U s3
#define R0 s4
#define R1 s5
#define R2 s6
#define R3 s7
#define R4 s8
#define R5 s9
#define R6 s10
#define R7 s11
#define R8 ra
#define R9 a0

/* The frame: a part's address of its result and its return address; a function's arguments; the
   registers that it saves. */
#define OUT 0(sp)
#define RETURN 4(sp)
#define COUNT 8(sp)
#define RESULT 12(sp)
#define FACTOR 16(sp)
#define SAVED s0, s1, s2, s3, s4, s5, s6, s7, s8, s9, s10, s11, ra
#define SAVED_AT 28
#define FRAME 80

.macro function name
    .section .text.\name, "ax", %progbits
    .global \name
    .type   \name, %function
    .balign 4
\name:
.endm

.macro part name
    .section .text.p25519_parts, "ax", %progbits
    .balign 4
\name:
.endm

.macro enter
    addi    sp, sp, -FRAME
    save    SAVED_AT, SAVED
.endm

.macro leave
    restore SAVED_AT, SAVED
    addi    sp, sp, FRAME
    ret
.endm

.macro load_a from
    lw      A0, 0(\from)
    lw      A1, 4(\from)
    lw      A2, 8(\from)
    lw      A3, 12(\from)
    lw      A4, 16(\from)
    lw      A5, 20(\from)
    lw      A6, 24(\from)
    lw      A7, 28(\from)
.endm

.macro load_b from
    lw      B0, 0(\from)
    lw      B1, 4(\from)
    lw      B2, 8(\from)
    lw      B3, 12(\from)
    lw      B4, 16(\from)
    lw      B5, 20(\from)
    lw      B6, 24(\from)
    lw      B7, 28(\from)
.endm

/* Stores the result, and leaves a part. */
.macro leave_part
    lw      T, OUT
    lw      ra, RETURN
    sw      R0, 0(T)
    sw      R1, 4(T)
    sw      R2, 8(T)
    sw      R3, 12(T)
    sw      R4, 16(T)
    sw      R5, 20(T)
    sw      R6, 24(T)
    sw      R7, 28(T)
    ret
.endm

.macro enter_part
    sw      a0, OUT
    sw      ra, RETURN
.endm

/* Adds a product to a column's words x and y, and to z what they carry; a column's first product sets
   z. What is above half a product is never all ones, so that a carry may be added to it. */
.macro add_product a, b, x, y, z
    mul     T, \a, \b
    mulhu   U, \a, \b
    add     \x, \x, T
    sltu    T, \x, T
    add     U, U, T
    add     \y, \y, U
    sltu    U, \y, U
    add     \z, \z, U
.endm

.macro first a, b, x, y, z
    mul     T, \a, \b
    mulhu   U, \a, \b
    add     \x, \x, T
    sltu    T, \x, T
    add     U, U, T
    add     \y, \y, U
    sltu    \z, \y, U
.endm

/* The same where y is not set yet. */
.macro begin a, b, x, y
    mul     T, \a, \b
    mulhu   \y, \a, \b
    add     \x, \x, T
    sltu    T, \x, T
    add     \y, \y, T
.endm

/* The same where y carries nothing. */
.macro last a, b, x, y
    mul     T, \a, \b
    mulhu   U, \a, \b
    add     \x, \x, T
    sltu    T, \x, T
    add     \y, \y, U
    add     \y, \y, T
.endm

/* Doubles a word of a number whose word below it is still as it was. */
.macro double x, below
    slli    \x, \x, 1
    srli    T, \below, 31
    or      \x, \x, T
.endm

/* Adds a's square and a carry to x and y; a becomes the carry of these. */
.macro add_square a, x, y, carry
    mul     T, \a, \a
    mulhu   U, \a, \a
    add     \x, \x, T
    sltu    T, \x, T
    add     \x, \x, \carry
    sltu    \carry, \x, \carry
    add     U, U, T
    add     U, U, \carry
    add     \y, \y, U
    sltu    \a, \y, U
.endm

/* Adds the carry in U to the words of the result; U becomes what these carry. */
.macro add_carry words:vararg
    .irp    word, \words
    add     \word, \word, U
    sltu    U, \word, U
    .endr
.endm

/* Adds 38 times what carries out of the result, which is in U and below 2^26, and that again: then
   the result is small and carries nothing. */
.macro fold_carry
    li      T, 38
    mul     U, U, T
    add_carry R0, R1, R2, R3, R4, R5, R6, R7
    neg     U, U
    andi    U, U, 38
    add     R0, R0, U
.endm

/* Adds 38 times a word above the result, which becomes a carry; that from below is added, too. */
.macro fold_word r, upper, carry
    mul     U, \upper, T
    mulhu   \upper, \upper, T
    add     \r, \r, U
    sltu    U, \r, U
    add     \upper, \upper, U
    add     \r, \r, \carry
    sltu    U, \r, \carry
    add     \upper, \upper, U
.endm

.macro reduce u0, u1, u2, u3, u4, u5, u6, u7
    li      T, 38
    mul     U, \u0, T
    mulhu   \u0, \u0, T
    add     R0, R0, U
    sltu    U, R0, U
    add     \u0, \u0, U
    fold_word R1, \u1, \u0
    fold_word R2, \u2, \u1
    fold_word R3, \u3, \u2
    fold_word R4, \u4, \u3
    fold_word R5, \u5, \u4
    fold_word R6, \u6, \u5
    fold_word R7, \u7, \u6
    mv      U, \u7
    fold_carry
.endm

/* In parts a0 is the address of the result, a1 and a2 those of the operands; they preserve nothing.

   The product's upper words take the registers of operands that are done with. */
part multiply_part
    enter_part
    load_b  a2
    load_a  a1
    mul     R0, A0, B0
    mulhu   R1, A0, B0
    begin   A0, B1, R1, R2
    first   A1, B0, R1, R2, R3
    first   A0, B2, R2, R3, R4
    add_product A1, B1, R2, R3, R4
    add_product A2, B0, R2, R3, R4
    first   A0, B3, R3, R4, R5
    add_product A1, B2, R3, R4, R5
    add_product A2, B1, R3, R4, R5
    add_product A3, B0, R3, R4, R5
    first   A0, B4, R4, R5, R6
    add_product A1, B3, R4, R5, R6
    add_product A2, B2, R4, R5, R6
    add_product A3, B1, R4, R5, R6
    add_product A4, B0, R4, R5, R6
    first   A0, B5, R5, R6, R7
    add_product A1, B4, R5, R6, R7
    add_product A2, B3, R5, R6, R7
    add_product A3, B2, R5, R6, R7
    add_product A4, B1, R5, R6, R7
    add_product A5, B0, R5, R6, R7
    first   A0, B6, R6, R7, R8
    add_product A1, B5, R6, R7, R8
    add_product A2, B4, R6, R7, R8
    add_product A3, B3, R6, R7, R8
    add_product A4, B2, R6, R7, R8
    add_product A5, B1, R6, R7, R8
    add_product A6, B0, R6, R7, R8
    first   A0, B7, R7, R8, R9
    add_product A1, B6, R7, R8, R9
    add_product A2, B5, R7, R8, R9
    add_product A3, B4, R7, R8, R9
    add_product A4, B3, R7, R8, R9
    add_product A5, B2, R7, R8, R9
    add_product A6, B1, R7, R8, R9
    add_product A7, B0, R7, R8, R9
    first   A1, B7, R8, R9, A0
    add_product A2, B6, R8, R9, A0
    add_product A3, B5, R8, R9, A0
    add_product A4, B4, R8, R9, A0
    add_product A5, B3, R8, R9, A0
    add_product A6, B2, R8, R9, A0
    add_product A7, B1, R8, R9, A0
    first   A2, B7, R9, A0, B0
    add_product A3, B6, R9, A0, B0
    add_product A4, B5, R9, A0, B0
    add_product A5, B4, R9, A0, B0
    add_product A6, B3, R9, A0, B0
    add_product A7, B2, R9, A0, B0
    first   A3, B7, A0, B0, A1
    add_product A4, B6, A0, B0, A1
    add_product A5, B5, A0, B0, A1
    add_product A6, B4, A0, B0, A1
    add_product A7, B3, A0, B0, A1
    first   A4, B7, B0, A1, B1
    add_product A5, B6, B0, A1, B1
    add_product A6, B5, B0, A1, B1
    add_product A7, B4, B0, A1, B1
    first   A5, B7, A1, B1, A2
    add_product A6, B6, A1, B1, A2
    add_product A7, B5, A1, B1, A2
    first   A6, B7, B1, A2, B2
    add_product A7, B6, B1, A2, B2
    last    A7, B7, A2, B2
    reduce  R8, R9, A0, B0, A1, B1, A2, B2
    leave_part

/* Products of different words, doubled, then squares. */
part square_part
    enter_part
    load_a  a1
    mul     R1, A0, A1
    mulhu   R2, A0, A1
    begin   A0, A2, R2, R3
    begin   A0, A3, R3, R4
    first   A1, A2, R3, R4, R5
    first   A0, A4, R4, R5, R6
    add_product A1, A3, R4, R5, R6
    first   A0, A5, R5, R6, R7
    add_product A1, A4, R5, R6, R7
    add_product A2, A3, R5, R6, R7
    first   A0, A6, R6, R7, R8
    add_product A1, A5, R6, R7, R8
    add_product A2, A4, R6, R7, R8
    first   A0, A7, R7, R8, R9
    add_product A1, A6, R7, R8, R9
    add_product A2, A5, R7, R8, R9
    add_product A3, A4, R7, R8, R9
    first   A1, A7, R8, R9, B0
    add_product A2, A6, R8, R9, B0
    add_product A3, A5, R8, R9, B0
    first   A2, A7, R9, B0, B1
    add_product A3, A6, R9, B0, B1
    add_product A4, A5, R9, B0, B1
    first   A3, A7, B0, B1, B2
    add_product A4, A6, B0, B1, B2
    first   A4, A7, B1, B2, B3
    add_product A5, A6, B1, B2, B3
    first   A5, A7, B2, B3, B4
    last    A6, A7, B3, B4
    srli    B5, B4, 31
    double  B4, B3
    double  B3, B2
    double  B2, B1
    double  B1, B0
    double  B0, R9
    double  R9, R8
    double  R8, R7
    double  R7, R6
    double  R6, R5
    double  R5, R4
    double  R4, R3
    double  R3, R2
    double  R2, R1
    slli    R1, R1, 1
    mul     R0, A0, A0
    mulhu   T, A0, A0
    add     R1, R1, T
    sltu    A0, R1, T
    add_square A1, R2, R3, A0
    add_square A2, R4, R5, A1
    add_square A3, R6, R7, A2
    add_square A4, R8, R9, A3
    add_square A5, B0, B1, A4
    add_square A6, B2, B3, A5
    add_square A7, B4, B5, A6
    reduce  R8, R9, B0, B1, B2, B3, B4, B5
    leave_part

.macro add_word r, a, b
    add     \r, \a, \b
    sltu    T, \r, \a
    add     \r, \r, U
    sltu    U, \r, U
    or      U, U, T
.endm

part add_part
    enter_part
    load_b  a2
    load_a  a1
    add     R0, A0, B0
    sltu    U, R0, A0
    add_word R1, A1, B1
    add_word R2, A2, B2
    add_word R3, A3, B3
    add_word R4, A4, B4
    add_word R5, A5, B5
    add_word R6, A6, B6
    add_word R7, A7, B7
    fold_carry
    leave_part

.macro subtract_word r, a, b
    sltu    T, \a, \b
    sub     \r, \a, \b
    sltu    \a, \r, U
    sub     \r, \r, U
    or      U, T, \a
.endm

part subtract_part
    enter_part
    load_b  a2
    load_a  a1
    sltu    U, A0, B0
    sub     R0, A0, B0
    subtract_word R1, A1, B1
    subtract_word R2, A2, B2
    subtract_word R3, A3, B3
    subtract_word R4, A4, B4
    subtract_word R5, A5, B5
    subtract_word R6, A6, B6
    subtract_word R7, A7, B7
    neg     U, U
    andi    U, U, 38
    .irp    word, R0, R1, R2, R3, R4, R5, R6, R7
    sltu    T, \word, U
    sub     \word, \word, U
    mv      U, T
    .endr
    neg     U, U
    andi    U, U, 38
    sub     R0, R0, U
    leave_part

.macro multiply_word r, a
    mul     \r, \a, T
    mulhu   \a, \a, T
    add     \r, \r, U
    sltu    U, \r, U
    add     U, U, \a
.endm

/* 121665 a */
part a24_part
    enter_part
    load_a  a1
    li      T, 121665
    mul     R0, A0, T
    mulhu   U, A0, T
    multiply_word R1, A1
    multiply_word R2, A2
    multiply_word R3, A3
    multiply_word R4, A4
    multiply_word R5, A5
    multiply_word R6, A6
    multiply_word R7, A7
    fold_carry
    leave_part

/* void p25519_multiply(uint32_t out[8], const uint32_t a[8], const uint32_t b[8]) */
function p25519_multiply
    enter
    call    multiply_part
    leave

/* void p25519_square(uint32_t out[8], const uint32_t a[8]) */
function p25519_square
    enter
    call    square_part
    leave

/* void p25519_square_times(uint32_t out[8], const uint32_t a[8], uint32_t count, const uint32_t b[8])

   out = a^(2^count) * b. The power is in the frame; b may be where out is. */
function p25519_square_times
    addi    sp, sp, -FRAME - 32
    save    SAVED_AT, SAVED
    sw      a0, RESULT
    sw      a2, COUNT
    sw      a3, FACTOR
    addi    a0, sp, FRAME
    call    square_part
    .balign 4
1:
    lw      T, COUNT
    addi    a0, sp, FRAME
    addi    T, T, -1
    sw      T, COUNT
    beqz    T, 2f
    mv      a1, a0
    call    square_part
    j       1b
2:
    lw      a2, FACTOR
    mv      a1, a0
    lw      a0, RESULT
    call    multiply_part
    .irp    word, 0, 1, 2, 3, 4, 5, 6, 7
    sw      zero, FRAME + 4 * \word(sp)
    .endr
    restore SAVED_AT, SAVED
    addi    sp, sp, FRAME + 32
    ret

/* void p25519_multiply_a24(uint32_t out[8], const uint32_t a[8]) */
function p25519_multiply_a24
    enter
    call    a24_part
    leave

/* void p25519_add(uint32_t out[8], const uint32_t a[8], const uint32_t b[8]) */
function p25519_add
    enter
    call    add_part
    leave

/* void p25519_subtract(uint32_t out[8], const uint32_t a[8], const uint32_t b[8]) */
function p25519_subtract
    enter
    call    subtract_part
    leave

/* Swaps two words of the elements at a and b if the mask in \mask is all ones. */
.macro swap_words a, b, mask, at
    lw      t0, \at(\a)
    lw      t1, \at(\b)
    lw      t2, \at + 4(\a)
    lw      t3, \at + 4(\b)
    xor     t4, t0, t1
    and     t4, t4, \mask
    xor     t0, t0, t4
    xor     t1, t1, t4
    xor     t5, t2, t3
    and     t5, t5, \mask
    xor     t2, t2, t5
    xor     t3, t3, t5
    sw      t0, \at(\a)
    sw      t1, \at(\b)
    sw      t2, \at + 4(\a)
    sw      t3, \at + 4(\b)
.endm

.macro swap_pairs a, b, mask
    swap_words \a, \b, \mask, 0
    swap_words \a, \b, \mask, 8
    swap_words \a, \b, \mask, 16
    swap_words \a, \b, \mask, 24
    swap_words \a, \b, \mask, 32
    swap_words \a, \b, \mask, 40
    swap_words \a, \b, \mask, 48
    swap_words \a, \b, \mask, 56
.endm

/* void p25519_swap(void *a, void *b, uint32_t mask)

   Swaps two pairs of elements if the mask is all ones. */
function p25519_swap
    swap_pairs a0, a1, a2
    ret

/* Element numbers of p25519_step. */
#define PX 0
#define PZ 32
#define QX 64
#define QZ 96
#define X1 128
#define EA 160
#define EB 192
#define EC 224
#define ED 256

.macro do part, to, first, second=-1
    lw      s11, RESULT
    addi    a0, s11, \to
    addi    a1, s11, \first
    .if     \second >= 0
    addi    a2, s11, \second
    .endif
    call    \part
.endm

/* void p25519_step(uint32_t elements[9][8], uint32_t swap)

   A step of the ladder of key-agreement/x25519/x25519-ladder.h. */
function p25519_step
    enter
    sw      a0, RESULT
    addi    a2, a0, QX
    swap_pairs a0, a2, a1
    do      add_part, EA, PX, PZ
    do      subtract_part, EB, PX, PZ
    do      add_part, EC, QX, QZ
    do      subtract_part, ED, QX, QZ
    do      multiply_part, ED, ED, EA
    do      multiply_part, EC, EC, EB
    do      square_part, EA, EA
    do      square_part, EB, EB
    do      add_part, QX, ED, EC
    do      subtract_part, EC, ED, EC
    do      square_part, QX, QX
    do      square_part, EC, EC
    do      multiply_part, QZ, EC, X1
    do      multiply_part, PX, EA, EB
    do      subtract_part, EB, EA, EB
    do      a24_part, EC, EB
    do      add_part, EC, EC, EA
    do      multiply_part, PZ, EB, EC
    leave
