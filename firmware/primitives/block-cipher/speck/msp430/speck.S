/* SPECK64/128: x and y of the paper in two registers each. */
#include "msp430-rotate.inc"

#define X r4, r5
#define Y r6, r7
#define T r8
#define K r9
#define LAST r10 /* address of the last round's key */
#define ROUND_KEYS_BYTES (4 * 27)

/* y <<<= 3 */
.macro rotl3 h, l
    rotl1 \h, \l
    rotl1 \h, \l
    rotl1 \h, \l
.endm

/* A round without its key, x = (x >>> 8) + y. */
.macro sum xh, xl, yh, yl
    rotr8 \xh, \xl, T
    add \yl, \xl
    addc \yh, \xh
.endm

/* y = (y <<< 3) ^ x */
.macro mix xh, xl, yh, yl
    rotl3 \yh, \yl
    xor \xl, \yl
    xor \xh, \yh
.endm

.macro add_key xh, xl
    xor @K+, \xl
    xor @K+, \xh
.endm

.macro round
    sum X, Y
    add_key X
    mix X, Y
.endm

/* K is the address of the previous round's key, and moves back by one. */
.macro inverse_round xh, xl, yh, yl
    xor \xl, \yl
    xor \xh, \yh
    rotr1 \yh, \yl
    rotr1 \yh, \yl
    rotr1 \yh, \yl
    add_key \xh, \xl
    sub #8, K
    sub \yl, \xl
    subc \yh, \xh
    rotl8 \xh, \xl, T
.endm

/* Loads a word from any address. */
.macro load h, l, from
    mov.b @\from+, \l
    mov.b @\from+, T
    swpb T
    bis T, \l
    mov.b @\from+, \h
    mov.b @\from+, T
    swpb T
    bis T, \h
.endm

.macro store h, l, to, at
    mov.b \l, \at(\to)
    swpb \l
    mov.b \l, \at+1(\to)
    mov.b \h, \at+2(\to)
    swpb \h
    mov.b \h, \at+3(\to)
.endm

.macro enter
    push r4
    push r5
    push r6
    push r7
    push r8
    push r9
    push r10
.endm

.macro leave
    pop r10
    pop r9
    pop r8
    pop r7
    pop r6
    pop r5
    pop r4
    ret
.endm

    .section .text.speck_encrypt, "ax", @progbits
    .global speck_encrypt
    .type speck_encrypt, @function
    .p2align 1
/* void speck_encrypt(const speck_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) */
speck_encrypt:
    tst r15
    jz .Lencrypted
    enter
    mov r12, LAST
    add #ROUND_KEYS_BYTES, LAST
.Lencrypt_block:
    load Y, r14
    load X, r14
    mov r12, K
.Lencrypt_rounds:
    round
    round
    round
    cmp LAST, K
    jne .Lencrypt_rounds
    store Y, r13, 0
    store X, r13, 4
    add #8, r13
    dec r15
    jnz .Lencrypt_block
    leave
.Lencrypted:
    ret
    .size speck_encrypt, . - speck_encrypt

    .section .text.speck_decrypt, "ax", @progbits
    .global speck_decrypt
    .type speck_decrypt, @function
    .p2align 1
/* void speck_decrypt(const speck_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) */
speck_decrypt:
    tst r15
    jz .Ldecrypted
    enter
    sub #4, r12
    mov r12, LAST
    add #ROUND_KEYS_BYTES, LAST
.Ldecrypt_block:
    load Y, r14
    load X, r14
    mov LAST, K
.Ldecrypt_rounds:
    inverse_round X, Y
    inverse_round X, Y
    inverse_round X, Y
    cmp r12, K
    jne .Ldecrypt_rounds
    store Y, r13, 0
    store X, r13, 4
    add #8, r13
    dec r15
    jnz .Ldecrypt_block
    leave
.Ldecrypted:
    ret
    .size speck_decrypt, . - speck_decrypt

#define L0 r10, r11
#define L1 r13, r14
#define I r15

/* Stores the round key, and computes the next with the round function and the round's number. */
.macro next_key lh, ll, yh, yl
    mov \yl, 0(r12)
    mov \yh, 2(r12)
    add #4, r12
    sum \lh, \ll, \yh, \yl
    xor I, \ll
    mix \lh, \ll, \yh, \yl
    inc I
.endm

    .section .text.speck_init, "ax", @progbits
    .global speck_init
    .type speck_init, @function
    .p2align 1
/* void speck_init(speck_ctx *ctx, const uint8_t *key)

   l of the paper is in L0, L1 and X. The key after the last round's is also computed, but not
   stored. */
speck_init:
    enter
    mov r13, K
    load Y, K
    load L0, K
    load L1, K
    load X, K
    clr I
.Lkeys:
    next_key L0, Y
    next_key L1, Y
    next_key X, Y
    cmp #27, I
    jne .Lkeys
    leave
    .size speck_init, . - speck_init
