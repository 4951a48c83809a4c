/* SIMON64/128: x and y of the paper in two registers each. */
#include "msp430-rotate.inc"

#define X r4, r5
#define Y r6, r7
#define A r8, r9
#define B r10, r11
#define K r12
#define T r13
#define END r14 /* end of the round keys, in the direction of the rounds */
#define P r15
#define ROUND_KEYS_BYTES (4 * 44)

/* The frame. */
#define IN 0(sp)
#define OUT 2(sp)
#define FIRST_KEY 4(sp)
#define BLOCKS 6(sp)
#define FRAME_BYTES 8

/* y ^= f(x), which is ((x <<< 1) & (x <<< 8)) ^ (x <<< 2) */
.macro add_f xh, xl, yh, yl, ah, al, bh, bl
    mov \xl, \bl
    mov \xh, \bh
    rotl8 \bh, \bl, T
    mov \xl, \al
    mov \xh, \ah
    rotl1 \ah, \al
    and \al, \bl
    and \ah, \bh
    rotl1 \ah, \al
    xor \al, \yl
    xor \ah, \yh
    xor \bl, \yl
    xor \bh, \yh
.endm

.macro add_key yh, yl
    xor @K+, \yl
    xor @K+, \yh
.endm

/* Loads a word from any address. */
.macro load h, l
    mov.b @P+, \l
    mov.b @P+, T
    swpb T
    bis T, \l
    mov.b @P+, \h
    mov.b @P+, T
    swpb T
    bis T, \h
.endm

.macro store h, l, at
    mov.b \l, \at(P)
    swpb \l
    mov.b \l, \at+1(P)
    mov.b \h, \at+2(P)
    swpb \h
    mov.b \h, \at+3(P)
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

.macro open_frame
    push r15
    push r12
    push r13
    push r14
.endm

.macro load_block
    mov IN, P
    load Y
    load X
    mov P, IN
    mov FIRST_KEY, K
.endm

.macro store_block
    mov OUT, P
    store Y, 0
    store X, 4
    add #8, OUT
.endm

    .section .text.simon_encrypt, "ax", @progbits
    .global simon_encrypt
    .type simon_encrypt, @function
    .p2align 1
/* void simon_encrypt(const simon_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) */
simon_encrypt:
    tst r15
    jz .Lencrypted
    enter
    open_frame
    mov K, END
    add #ROUND_KEYS_BYTES, END
.Lencrypt_block:
    load_block
.Lencrypt_rounds:
    add_f X, Y, A, B
    add_key Y
    add_f Y, X, A, B
    add_key X
    cmp END, K
    jne .Lencrypt_rounds
    store_block
    dec BLOCKS
    jnz .Lencrypt_block
    add #FRAME_BYTES, sp
    leave
.Lencrypted:
    ret
    .size simon_encrypt, . - simon_encrypt

    .section .text.simon_decrypt, "ax", @progbits
    .global simon_decrypt
    .type simon_decrypt, @function
    .p2align 1
/* void simon_decrypt(const simon_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) */
simon_decrypt:
    tst r15
    jz .Ldecrypted
    enter
    sub #4, r12
    push r15
    mov r12, r15
    add #ROUND_KEYS_BYTES, r15
    push r15
    push r13
    push r14
    mov r12, END
.Ldecrypt_block:
    load_block
.Ldecrypt_rounds:
    add_f Y, X, A, B
    add_key X
    sub #8, K
    add_f X, Y, A, B
    add_key Y
    sub #8, K
    cmp END, K
    jne .Ldecrypt_rounds
    store_block
    dec BLOCKS
    jnz .Ldecrypt_block
    add #FRAME_BYTES, sp
    leave
.Ldecrypted:
    ret
    .size simon_decrypt, . - simon_decrypt

#define K0 r4, r5
#define K1 r6, r7
#define K2 r8, r9
#define K3 r10, r11
#define Z r13

.macro keep h, l
    mov \l, 0(r12)
    mov \h, 2(r12)
    add #4, r12
.endm

/* Replaces k0 by the key that follows k3. */
.macro next_key h0, l0, h1, l1, h3, l3, th, tl
    mov \l3, \tl
    mov \h3, \th
    rotr1 \th, \tl
    rotr1 \th, \tl
    rotr1 \th, \tl
    xor \l1, \tl
    xor \h1, \th
    xor \tl, \l0
    xor \th, \h0
    rotr1 \th, \tl
    xor \tl, \l0
    xor \th, \h0
    inv \h0
    mov.b @Z+, \tl
    xor \tl, \l0
    inv \l0
    keep \h0, \l0
.endm

    .section .rodata.simon_constants, "a", @progbits
/* 3 xor each of the first 40 of the 62 bits of the paper's z3. */
.Lconstants:
    .irp byte, 0xdb, 0x35, 0xa6, 0x07, 0x12
    .byte 3 ^ (\byte & 1), 3 ^ (\byte >> 1 & 1), 3 ^ (\byte >> 2 & 1), 3 ^ (\byte >> 3 & 1)
    .byte 3 ^ (\byte >> 4 & 1), 3 ^ (\byte >> 5 & 1), 3 ^ (\byte >> 6 & 1), 3 ^ (\byte >> 7 & 1)
    .endr
.Lconstants_end:

    .section .text.simon_init, "ax", @progbits
    .global simon_init
    .type simon_init, @function
    .p2align 1
/* void simon_init(simon_ctx *ctx, const uint8_t *key) */
simon_init:
    enter
    mov r13, P
    load K0
    load K1
    load K2
    load K3
    keep K0
    keep K1
    keep K2
    keep K3
    mov #.Lconstants, Z
.Lkeys:
    next_key K0, K1, K3, r14, r15
    next_key K1, K2, K0, r14, r15
    next_key K2, K3, K1, r14, r15
    next_key K3, K0, K2, r14, r15
    cmp #.Lconstants_end, Z
    jne .Lkeys
    leave
    .size simon_init, . - simon_init
