/* The field of 2^255 - 19 elements for RISC-V: elements are any number below 2^256; 2^256 = 38.
   Every function takes the same time for all operands. */
#include "field/multiply-riscv.inc"

/* In the frame: where a part returns to; arguments of functions. */
#define RETURN 4(sp)
#define COUNT 8(sp)
#define RESULT 12(sp)
#define FACTOR 16(sp)

/* In parts a0 is the address of the result, a1 and a2 those of operands; they preserve nothing. */
.macro part name
    .section .text.\name, "ax", %progbits
    .balign 4
\name:
.endm

.macro enter_part
    sw      a0, OUT
    sw      ra, RETURN
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

part multiply_part
    enter_part
    load_b  a2
    load_a  a1
    product
    reduce  UPPER
    leave_part

part square_part
    enter_part
    load_a  a1
    square_product
    reduce  SQUARE_UPPER
    leave_part

part add_part
    enter_part
    load_b  a2
    load_a  a1
    add_words
    fold_carry
    leave_part

part subtract_part
    enter_part
    load_b  a2
    load_a  a1
    subtract_words
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
