/* void curupira2_encrypt(const curupira2_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) */
#include "curupira-round-msp430.inc"

/* The frame: in, out, blocks, ctx, and the array through which the key moves. */
#define IN 0
#define OUT 2
#define BLOCKS 4
#define KEY 6
#define ARRAY 8

/* Rows 0 and 1 of the round key's column at K + \at. */
.macro key_rows at, to
    mov.b   \at(K), T
    mov.b   curupira2_s(T), \to
    mov.b   \at + 1(K), T
    swpb    T
    bis     T, \to
.endm

/* Adds row 2 of two columns of the round key, at K + \at. */
.macro add_row2 at, to
    mov.b   \at + 2(K), T
    xor     T, \to
    mov.b   \at + 5(K), T
    swpb    T
    xor     T, \to
.endm

/* Makes the key of the next round; the round number is how far K has moved. Changes \c, T and C. */
.macro next_round_key c
    mov     K, \c
    sub     sp, \c
    sub     #ARRAY, \c
    next_key K, \c
    inc     K
.endm

.macro round w0, w1, w2, w3, n0, n1
    next_round_key \n0
    key_rows 0, \n0
    key_rows 3, \n1
    columns \w0, \w1, X23, \n0, \n1, NX
    add_row2 0, NX
    key_rows 6, \w0
    key_rows 9, \w1
    columns \w2, \w3, X01, \w0, \w1, X23
    add_row2 6, X23
    mov     NX, X01
.endm

/* Stores a byte of the result: S of a byte of the state, plus key. */
.macro last_byte from, of, at
    \from   \of, T
    xor.b   \at(K), T
    mov.b   T, \at(C)
.endm

.macro last_byte_row0 from, of, at
    \from   \of, T
    mov.b   \at(K), NX
    xor.b   curupira2_s(NX), T
    mov.b   T, \at(C)
.endm

    .section .text.curupira2_encrypt, "ax", @progbits
    .global curupira2_encrypt
    .type   curupira2_encrypt, @function
curupira2_encrypt:
    tst     r15
    jnz     .Lsome
    ret
.Lsome:
    push    r4
    push    r5
    push    r6
    push    r7
    push    r8
    push    r9
    push    r10
    push    r11
    sub     #22, sp
    push    r12
    push    r15
    push    r13
    push    r14

.Lblock:
    mov     KEY(sp), C
    mov     sp, K
    add     #ARRAY, K
    mov     @C+, T
    mov     T, 0(K)
    mov     @C+, T
    mov     T, 2(K)
    mov     @C+, T
    mov     T, 4(K)
    mov     @C+, T
    mov     T, 6(K)
    mov     @C+, T
    mov     T, 8(K)
    mov     @C+, T
    mov     T, 10(K)

    mov     @sp, C
    load_columns C, W0, W1, X01
    load_columns C, W2, W3, X23
    mov     C, IN(sp)
    key_rows 0, N0
    xor     N0, W0
    key_rows 3, N0
    xor     N0, W1
    add_row2 0, X01
    key_rows 6, N0
    xor     N0, W2
    key_rows 9, N0
    xor     N0, W3
    add_row2 6, X23

.Lrounds:
    round   W0, W1, W2, W3, N0, N1
    round   N0, N1, W0, W1, W2, W3
    round   W2, W3, N0, N1, W0, W1
    mov     K, T
    sub     sp, T
    cmp     #ARRAY + 9, T
    jeq     .Llast
    br      #.Lrounds

.Llast:
    next_round_key N0
    mov     OUT(sp), C
    last_byte_row0 s_low, W0, 0
    last_byte s_high, W1, 1
    last_byte s_low, X23, 2
    swpb    W1
    last_byte_row0 s_low, W1, 3
    last_byte s_high, W0, 4
    last_byte s_high, X23, 5
    last_byte_row0 s_low, W2, 6
    last_byte s_high, W3, 7
    last_byte s_low, X01, 8
    swpb    W3
    last_byte_row0 s_low, W3, 9
    last_byte s_high, W2, 10
    last_byte s_high, X01, 11
    add     #12, OUT(sp)
    dec     BLOCKS(sp)
    jz      .Ldone
    br      #.Lblock

.Ldone:
    add     #8, sp
    mov     #11, K                  /* wipe the key and free its space */
.Lwipe:
    clr     0(sp)
    incd    sp
    dec     K
    jnz     .Lwipe
    pop     r11
    pop     r10
    pop     r9
    pop     r8
    pop     r7
    pop     r6
    pop     r5
    pop     r4
    ret
    .size   curupira2_encrypt, . - curupira2_encrypt
