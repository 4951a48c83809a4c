/* void ENCRYPT(const CTX *ctx, uint8_t *out, const uint8_t *in, size_t blocks)
   void DECRYPT(const CTX *ctx, uint8_t *out, const uint8_t *in, size_t blocks)

   An implementation defines these names and ROUNDS in a .S file and includes this there. A context
   begins with the encryption round keys, ROUNDS + 1 of 12 bytes, followed by the decryption round
   keys. */
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

/* Loads the state from the block and adds the first key. */
.macro first_key w0, w1, w2, w3
    load_columns C, \w0, \w1, X01
    load_columns C, \w2, \w3, X23
    mov     C, 0(sp)
    xor     @K+, \w0
    xor     @K+, \w1
    xor     @K+, X01
    xor     @K+, \w2
    xor     @K+, \w3
    xor     @K+, X23
.endm

/* Stores a byte of the result: S of a byte of the state, plus key. */
.macro last_byte from, to, at
    \from   \to, T
    xor.b   @K+, T
    mov.b   T, \at(C)
.endm

    .section .text.curupira_crypt, "ax", @progbits
    .global DECRYPT
    .type   DECRYPT, @function
DECRYPT:
    add     #12 * (ROUNDS + 1), r12 /* to the decryption keys */
    .size   DECRYPT, . - DECRYPT

    .global ENCRYPT
    .type   ENCRYPT, @function
ENCRYPT:
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
    add     #12 * ROUNDS, r12
    push    r12                     /* 2(sp): the last round's key */
    push    r14                     /* 0(sp): in */

.Lblock:
    mov     8(sp), K
    mov     @sp, C
#if (ROUNDS - 1) % 3 == 0
    first_key W0, W1, W2, W3
#elif (ROUNDS - 1) % 3 == 1
    first_key W2, W3, N0, N1
    jmp     .Lthird
#else
    first_key N0, N1, W0, W1
    jmp     .Lsecond
#endif

.Lrounds:
    round   W0, W1, W2, W3, N0, N1
.Lsecond:
    round   N0, N1, W0, W1, W2, W3
.Lthird:
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
    .size   ENCRYPT, . - ENCRYPT
