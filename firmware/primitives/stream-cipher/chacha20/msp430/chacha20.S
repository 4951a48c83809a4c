/* ChaCha20's block function. The working state is where the stream will be, except for word 0,
   which never leaves its registers. The quarter rounds of a round are independent (RFC 8439,
   section 2.3); in the order used here, words 1, 3, 12 and 15 pass from one quarter round to the
   next in registers. */

#include "msp430-rotate.inc"

#define A r4, r5
#define B r6, r7
#define C r8, r9
#define D r10, r11
#define ZERO r12, r13
#define T r14
#define X r15

.macro get h, l, word
    mov \word*4(X), \l
    mov \word*4+2(X), \h
.endm

.macro put h, l, word
    mov \l, \word*4(X)
    mov \h, \word*4+2(X)
.endm

/* x += y */
.macro plus xh, xl, yh, yl
    add \yl, \xl
    addc \yh, \xh
.endm

/* x ^= y */
.macro with xh, xl, yh, yl
    xor \yl, \xl
    xor \yh, \xh
.endm

/* RFC 8439, section 2.1. Left by 12 is right by 4 and left by 16: the halves of d and b are swapped
   in turn, twice each. */
.macro quarter_round ah, al, bh, bl, ch, cl, dh, dl
    plus \ah, \al, \bh, \bl
    with \dh, \dl, \ah, \al
    plus \ch, \cl, \dl, \dh
    with \bh, \bl, \ch, \cl
    rotr1 \bh, \bl
    rotr1 \bh, \bl
    rotr1 \bh, \bl
    rotr1 \bh, \bl
    plus \ah, \al, \bl, \bh
    with \dl, \dh, \ah, \al
    rotr8 \dh, \dl, T
    plus \ch, \cl, \dh, \dl
    with \bl, \bh, \ch, \cl
    rotr8 \bh, \bl, T
    rotr1 \bh, \bl
.endm

    .section .text.chacha20_block, "ax", @progbits
    .global chacha20_block
    .type chacha20_block, @function
    .p2align 1
/* void chacha20_block(uint8_t stream[64], const uint32_t state[16]) */
chacha20_block:
    push r4
    push r5
    push r6
    push r7
    push r8
    push r9
    push r10
    push r13 ; state
    push #10 ; double rounds
    mov r12, X
    .irp word, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    mov @r13+, r4
    mov @r13+, r5
    mov r4, \word*4(X)
    mov r5, \word*4+2(X)
    .endr
    get ZERO, 0
    get A, 1
    get D, 12
.Ldouble_round:
    get B, 4
    get C, 8
    quarter_round ZERO, B, C, D
    put B, 4
    put C, 8
    put D, 12
    get B, 5
    get C, 9
    get D, 13
    quarter_round A, B, C, D
    put A, 1
    put B, 5
    put C, 9
    put D, 13
    get A, 2
    get B, 6
    get C, 10
    get D, 14
    quarter_round A, B, C, D
    put A, 2
    put B, 6
    put C, 10
    put D, 14
    get A, 3
    get B, 7
    get C, 11
    get D, 15
    quarter_round A, B, C, D
    put B, 7
    put C, 11

    get B, 5
    get C, 10
    quarter_round ZERO, B, C, D
    put B, 5
    put C, 10
    put D, 15
    get B, 4
    get C, 9
    get D, 14
    quarter_round A, B, C, D
    put A, 3
    put B, 4
    put C, 9
    put D, 14
    get A, 2
    get B, 7
    get C, 8
    get D, 13
    quarter_round A, B, C, D
    put A, 2
    put B, 7
    put C, 8
    put D, 13
    get A, 1
    get B, 6
    get C, 11
    get D, 12
    quarter_round A, B, C, D
    put B, 6
    put C, 11
    dec 0(sp)
    jz .Lrounds_done
    br #.Ldouble_round
.Lrounds_done:
    put ZERO, 0
    put A, 1
    put D, 12
    incd sp
    pop r13
    .irp word, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    mov @r13+, r4
    mov @r13+, r5
    add r4, \word*4(X)
    addc r5, \word*4+2(X)
    .endr
    pop r10
    pop r9
    pop r8
    pop r7
    pop r6
    pop r5
    pop r4
    ret
    .size chacha20_block, . - chacha20_block
