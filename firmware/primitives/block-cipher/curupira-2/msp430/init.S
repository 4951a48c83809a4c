/* void curupira2_init(curupira2_ctx *ctx, const uint8_t *key) */
#include "curupira-round-msp430.inc"

#define KEY r4        /* k[0] of this round in the array on the stack */
#define ROUND r5
#define COLUMN r6     /* next byte of the round key */
#define HALVES r7     /* pairs of columns that remain */
#define ENCRYPTION r8 /* where the next words go */
#define DECRYPTION r9
#define KW0 r10
#define KX0 r11
#define KW1 r12
#define KX1 r13
#undef C
#define C r15

/* Applies theta to a column of the key, so that decryption can use the rounds of encryption. The
   S-box is its own inverse, so t2 after s is the product of a byte with 2 and 4. */
.macro theta w, x
    mov     \w, T
    swpb    T
    xor     \w, T
    xor     \x, T
    mov.b   T, T
    mov.b   curupira2_s(T), T
    rla     T
    mov     curupira2_t2(T), T
    xor     T, \w
    mov     T, C
    swpb    C
    xor.b   T, C
    xor     C, \x
.endm

.macro store_columns to
    mov     KW0, 0(\to)
    mov     KW1, 2(\to)
    mov     KX1, T
    swpb    T
    bis     KX0, T
    mov     T, 4(\to)
.endm

/* Reorders two columns of the last round's key, from the other rounds' order to the last
   round's. */
.macro in_order at, offset
    mov.b   \offset + 4(\at), T
    mov.b   \offset + 3(\at), \offset + 4(\at)
    mov.b   \offset + 2(\at), \offset + 3(\at)
    mov.b   T, \offset + 2(\at)
.endm

    .section .text.curupira2_init, "ax", @progbits
    .global curupira2_init
    .type   curupira2_init, @function
curupira2_init:
    push    r4
    push    r5
    push    r6
    push    r7
    push    r8
    push    r9
    push    r10
    push    r11
    push    r12
    sub     #22, sp
    mov     sp, KEY
    mov     KEY, COLUMN
    mov     #12, HALVES
.Lcopy:
    mov.b   @r13+, T
    mov.b   T, 0(COLUMN)
    inc     COLUMN
    dec     HALVES
    jnz     .Lcopy

    mov     r12, ENCRYPTION
    mov     r12, DECRYPTION
    add     #11 * 12 + 10 * 12, DECRYPTION
    clr     ROUND
.Lround:
    mov     KEY, COLUMN
    mov     #2, HALVES
.Lhalf:
    key_column COLUMN, KW0, KX0
    key_column COLUMN, KW1, KX1
    store_columns ENCRYPTION
    tst     ROUND
    jz      .Louter
    cmp     #10, ROUND
    jz      .Louter
    theta   KW0, KX0
    theta   KW1, KX1
.Louter:
    store_columns DECRYPTION
    add     #6, ENCRYPTION
    add     #6, DECRYPTION
    dec     HALVES
    jnz     .Lhalf
    sub     #2 * 12, DECRYPTION
    cmp     #10, ROUND
    jz      .Ldone
    mov     ROUND, r10
    next_key KEY, r10
    inc     KEY
    inc     ROUND
    jmp     .Lround

.Ldone:
    mov     22(sp), r12
    add     #10 * 12, r12
    in_order r12, 0
    in_order r12, 6
    add     #11 * 12, r12
    in_order r12, 0
    in_order r12, 6

    mov     #11, HALVES             /* wipe the key and free its space */
.Lwipe:
    clr     0(sp)
    incd    sp
    dec     HALVES
    jnz     .Lwipe
    incd    sp
    pop     r11
    pop     r10
    pop     r9
    pop     r8
    pop     r7
    pop     r6
    pop     r5
    pop     r4
    ret
    .size   curupira2_init, . - curupira2_init
