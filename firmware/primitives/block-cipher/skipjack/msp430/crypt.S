/* void skipjack_encrypt(const skipjack_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks)
   void skipjack_decrypt(const skipjack_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks)

   The words w1 to w4 are two registers each, high byte and low byte. A step changes two words in
   place and rotates the four names by one position, so four steps form a loop. */

#define HIGH1 r4
#define LOW1 r5
#define HIGH2 r6
#define LOW2 r7
#define HIGH3 r8
#define LOW3 r9
#define HIGH4 r10
#define LOW4 r11
#define CV r12
#define T r13
#define COUNTER r14
#define LOOPS r15

.macro g high, low
    .rept   2
    mov.b   @CV+, T
    xor.b   \low, T
    xor.b   skipjack_f(T), \high
    mov.b   @CV+, T
    xor.b   \high, T
    xor.b   skipjack_f(T), \low
    .endr
.endm

.macro g_inverse high, low
    .rept   2
    dec     CV
    mov.b   @CV, T
    xor.b   \high, T
    xor.b   skipjack_f(T), \low
    dec     CV
    mov.b   @CV, T
    xor.b   \low, T
    xor.b   skipjack_f(T), \high
    .endr
.endm

/* The words then become w2, w3, w4, w1. */
.macro rule_a high1, low1, high2, low2, high4, low4
    g       \high1, \low1
    xor     \high1, \high4
    xor     \low1, \low4
    xor     COUNTER, \low4
    inc     COUNTER
.endm

.macro rule_b high1, low1, high2, low2, high4, low4
    xor     \high1, \high2
    xor     \low1, \low2
    xor     COUNTER, \low2
    inc     COUNTER
    g       \high1, \low1
.endm

/* The words then become w4, w1, w2, w3. */
.macro inverse_a high1, low1, high2, low2, high3, low3
    xor     \high2, \high1
    xor     \low2, \low1
    xor     COUNTER, \low1
    dec     COUNTER
    g_inverse \high2, \low2
.endm

.macro inverse_b high1, low1, high2, low2, high3, low3
    g_inverse \high2, \low2
    xor     \high2, \high3
    xor     \low2, \low3
    xor     COUNTER, \low3
    dec     COUNTER
.endm

.macro eight_steps rule
    mov     #2, LOOPS
1:
    \rule   HIGH1, LOW1, HIGH2, LOW2, HIGH4, LOW4
    \rule   HIGH4, LOW4, HIGH1, LOW1, HIGH3, LOW3
    \rule   HIGH3, LOW3, HIGH4, LOW4, HIGH2, LOW2
    \rule   HIGH2, LOW2, HIGH3, LOW3, HIGH1, LOW1
    dec     LOOPS
    jnz     1b
.endm

.macro eight_inverse_steps rule
    mov     #2, LOOPS
1:
    \rule   HIGH1, LOW1, HIGH2, LOW2, HIGH3, LOW3
    \rule   HIGH2, LOW2, HIGH3, LOW3, HIGH4, LOW4
    \rule   HIGH3, LOW3, HIGH4, LOW4, HIGH1, LOW1
    \rule   HIGH4, LOW4, HIGH1, LOW1, HIGH2, LOW2
    dec     LOOPS
    jnz     1b
.endm

#define BLOCKS 0(sp)
#define IN 2(sp)
#define OUT 4(sp)
#define KEY 6(sp)

.macro enter
    push    r4
    push    r5
    push    r6
    push    r7
    push    r8
    push    r9
    push    r10
    push    r11
    push    r12
    push    r13
    push    r14
    push    r15
.endm

.macro leave
    add     #8, sp
    pop     r11
    pop     r10
    pop     r9
    pop     r8
    pop     r7
    pop     r6
    pop     r5
    pop     r4
.endm

.macro load
    mov     IN, T
    mov.b   @T+, HIGH1
    mov.b   @T+, LOW1
    mov.b   @T+, HIGH2
    mov.b   @T+, LOW2
    mov.b   @T+, HIGH3
    mov.b   @T+, LOW3
    mov.b   @T+, HIGH4
    mov.b   @T+, LOW4
    mov     T, IN
.endm

.macro store
    mov     OUT, T
    mov.b   HIGH1, 0(T)
    mov.b   LOW1, 1(T)
    mov.b   HIGH2, 2(T)
    mov.b   LOW2, 3(T)
    mov.b   HIGH3, 4(T)
    mov.b   LOW3, 5(T)
    mov.b   HIGH4, 6(T)
    mov.b   LOW4, 7(T)
    add     #8, T
    mov     T, OUT
.endm

    .section .text.skipjack_encrypt, "ax", @progbits
    .global skipjack_encrypt
    .type   skipjack_encrypt, @function
skipjack_encrypt:
    tst     r15
    jnz     .Lencrypt
    ret
.Lencrypt:
    enter
.Lencrypt_block:
    load
    mov     KEY, CV
    mov     #1, COUNTER
.Lencrypt_steps:
    eight_steps rule_a
    eight_steps rule_b
    cmp     #33, COUNTER
    jeq     .Lencrypted
    br      #.Lencrypt_steps
.Lencrypted:
    store
    dec     BLOCKS
    jz      .Lencrypt_done
    br      #.Lencrypt_block
.Lencrypt_done:
    leave
    ret
    .size   skipjack_encrypt, . - skipjack_encrypt

    .section .text.skipjack_decrypt, "ax", @progbits
    .global skipjack_decrypt
    .type   skipjack_decrypt, @function
skipjack_decrypt:
    tst     r15
    jnz     .Ldecrypt
    ret
.Ldecrypt:
    add     #4 * 32, r12
    enter
.Ldecrypt_block:
    load
    mov     KEY, CV
    mov     #32, COUNTER
.Ldecrypt_steps:
    eight_inverse_steps inverse_b
    eight_inverse_steps inverse_a
    tst     COUNTER
    jz      .Ldecrypted
    br      #.Ldecrypt_steps
.Ldecrypted:
    store
    dec     BLOCKS
    jz      .Ldecrypt_done
    br      #.Ldecrypt_block
.Ldecrypt_done:
    leave
    ret
    .size   skipjack_decrypt, . - skipjack_decrypt
