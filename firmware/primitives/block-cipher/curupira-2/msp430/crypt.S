/* void curupira2_encrypt(const curupira2_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks)
   void curupira2_decrypt(const curupira2_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) */
#include "curupira-round-msp430.inc"

/* A round with a key; the result is in \n0, \n1, \w0, \w1 as W0 to W3, and X01, X23. 119 cycles. */
.macro round w0, w1, w2, w3, n0, n1
    mov     @K+, \n0
    mov     @K+, \n1
    columns \w0, \w1, X23, \n0, \n1, NX
    xor     @K+, NX
    mov     @K+, \w0
    mov     @K+, \w1
    columns \w2, \w3, X01, \w0, \w1, X23
    xor     @K+, X23
    mov     NX, X01
.endm

/* A byte of the result: S of one of the state, with its key. */
.macro last_byte from, to, at
    \from   \to, T
    xor.b   @K+, T
    mov.b   T, \at(C)
.endm

    .section .text.curupira2_encrypt, "ax", @progbits
    .global curupira2_decrypt
    .type   curupira2_decrypt, @function
curupira2_decrypt:
    add     #11 * 12, r12           /* to ctx->decryption */
    .size   curupira2_decrypt, . - curupira2_decrypt

    .global curupira2_encrypt
    .type   curupira2_encrypt, @function
curupira2_encrypt:
    tst     r15
    jz      .Lnothing
    push    r4
    push    r5
    push    r6
    push    r7
    push    r8
    push    r9
    push    r10
    push    r11
    push    r12                     /* 8(sp): keys */
    push    r15                     /* 6(sp): blocks */
    push    r13                     /* 4(sp): out */
    add     #10 * 12, r12
    push    r12                     /* 2(sp): the last round's key */
    push    r14                     /* 0(sp): in */

.Lblock:
    mov     8(sp), K
    mov     @sp, C
    load_columns C, W0, W1, X01
    load_columns C, W2, W3, X23
    mov     C, 0(sp)
    xor     @K+, W0
    xor     @K+, W1
    xor     @K+, X01
    xor     @K+, W2
    xor     @K+, W3
    xor     @K+, X23

.Lrounds:
    round   W0, W1, W2, W3, N0, N1
    round   N0, N1, W0, W1, W2, W3
    round   W2, W3, N0, N1, W0, W1
    cmp     2(sp), K
    jne     .Lrounds

    mov     4(sp), C
    last_byte s_low, W0, 0
    last_byte s_high, W1, 1
    last_byte s_low, X23, 2
    swpb    W1
    last_byte s_low, W1, 3
    last_byte s_high, W0, 4
    last_byte s_high, X23, 5
    last_byte s_low, W2, 6
    last_byte s_high, W3, 7
    last_byte s_low, X01, 8
    swpb    W3
    last_byte s_low, W3, 9
    last_byte s_high, W2, 10
    last_byte s_high, X01, 11
    add     #12, 4(sp)
    dec     6(sp)
    jnz     .Lblock

    add     #10, sp
    pop     r11
    pop     r10
    pop     r9
    pop     r8
    pop     r7
    pop     r6
    pop     r5
    pop     r4
.Lnothing:
    ret
    .size   curupira2_encrypt, . - curupira2_encrypt
