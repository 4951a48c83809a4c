/* The Ascon permutation for ARMv7-M, and whole blocks of messages; see ascon-p.h. Each word is
   stored as two, its even bits and its odd bits, and all stay in registers. */
    .syntax unified
    .thumb

#define T r10
#define U r11
#define V r12

/* pS (SP 800-232, figure 3), of one half of the words. With p, q and r the exclusive or of x0 and
   x4, x1 and x2, x3 and x4, it is
       x0 = r ^ (x1 | (p ^ q))     x1 = p ^ (q | (x1 ^ x3))     x2 = q ^ (x3 | ~x4)
       x3 = q ^ (r | x0)           x4 = r ^ (x1 & ~p)
   as the 32 cases of figure 3's table show. */
.macro substitute x0, x1, x2, x3, x4
    eor     \x2, \x2, \x1
    eor     T, \x0, \x4
    orn     U, \x3, \x4
    eor     \x4, \x4, \x3
    orr     V, \x0, \x4
    eor     \x0, T, \x2
    orr     \x0, \x0, \x1
    eor     \x0, \x0, \x4
    eor     \x3, \x3, \x1
    bic     \x1, \x1, T
    orr     \x3, \x3, \x2
    eor     \x4, \x4, \x1
    eor     \x1, \x3, T
    eor     \x3, V, \x2
    eor     \x2, \x2, U
.endm

/* pL of a word rotated right by 2 n and by 2 m + 1; the odd amount swaps even and odd bits. */
.macro diffuse even, odd, n, m
    .if     \m
    eor     T, \even, \odd, ror #\m
    .else
    eor     T, \even, \odd
    .endif
    eor     \odd, \odd, \odd, ror #\n
    eor     \odd, \odd, \even, ror #\m + 1
    eor     \even, T, \even, ror #\n
.endm

/* The same for 2 n + 1 and 2 m + 1; the even bits go to another register. */
.macro diffuse_odd even, odd, n, m, to
    eor     \to, \even, \odd, ror #\n
    eor     \to, \to, \odd, ror #\m
    eor     \odd, \odd, \even, ror #\n + 1
    eor     \odd, \odd, \even, ror #\m + 1
.endm

/* A round, with the halves of its constant. The even bits of x1 and x4 are in the registers x1 and
   x4 before, and in \spare and \x1 after. */
.macro round even, odd, x1, x4, spare
    eor     r4, r4, #\even
    eor     r5, r5, #\odd
    substitute r0, \x1, r4, r6, \x4
    substitute r1, r3, r5, r7, r9
    diffuse r0, r1, 14, 9
    diffuse_odd \x1, r3, 30, 19, \spare
    diffuse r4, r5, 3, 0
    diffuse r6, r7, 5, 8
    diffuse_odd \x4, r9, 3, 20, \x1
.endm

/* interleave.h: a word's lower and upper halves become its even and odd bits. */
.macro exchange_bits low, high, t, n, mask
    eor     \t, \high, \low, lsr #\n
    and     \t, \t, #\mask
    eor     \high, \high, \t
    eor     \low, \low, \t, lsl #\n
.endm

.macro exchange_halves low, high, t
    lsr     \t, \low, #16
    bfi     \low, \high, #16, #16
    bfi     \high, \t, #0, #16
.endm

.macro interleave low, high, t
    exchange_halves \low, \high, \t
    exchange_bits \low, \high, \t, 8, 0x00ff00ff
    exchange_bits \low, \high, \t, 4, 0x0f0f0f0f
    exchange_bits \low, \high, \t, 2, 0x33333333
    exchange_bits \low, \high, \t, 1, 0x55555555
.endm

.macro deinterleave low, high, t
    exchange_bits \low, \high, \t, 1, 0x55555555
    exchange_bits \low, \high, \t, 2, 0x33333333
    exchange_bits \low, \high, \t, 4, 0x0f0f0f0f
    exchange_bits \low, \high, \t, 8, 0x00ff00ff
    exchange_halves \low, \high, \t
.endm

/* The permutation of the state in r0 to r9, using r10 to lr. */
    .section .text.ascon_rounds, "ax", %progbits
    .type   ascon_twelve_rounds, %function
    .thumb_func
    .p2align 3
ascon_twelve_rounds:
    push.w  {lr}
    round   0xc, 0xc, r2, r8, lr
    round   0x9, 0xc, lr, r2, r8
    round   0xc, 0x9, r8, lr, r2
    round   0x9, 0x9, r2, r8, lr
.Leight_rounds:
    round   0x6, 0xc, lr, r2, r8
    round   0x3, 0xc, r8, lr, r2
    round   0x6, 0x9, r2, r8, lr
    round   0x3, 0x9, lr, r2, r8
    round   0xc, 0x6, r8, lr, r2
    round   0x9, 0x6, r2, r8, lr
    round   0xc, 0x3, lr, r2, r8
    round   0x9, 0x3, r8, lr, r2
    pop     {pc}
    .size   ascon_twelve_rounds, . - ascon_twelve_rounds

    .type   ascon_eight_rounds, %function
    .thumb_func
ascon_eight_rounds:
    push.w  {lr}
    mov     lr, r2
    mov     r2, r8
    b       .Leight_rounds
    .size   ascon_eight_rounds, . - ascon_eight_rounds

    .section .text.ascon_p, "ax", %progbits
    .global ascon_p
    .type   ascon_p, %function
    .thumb_func
    .p2align 2
/* void ascon_p(ascon_state *s, unsigned rounds) */
ascon_p:
    push    {r0, r4-r11, lr}
    cmp     r1, #8
    ldm     r0, {r0-r9}
    beq     .Leight
    bl      ascon_twelve_rounds
.Lpermuted:
    pop     {r12}
    stmia   r12, {r0-r9}
    pop     {r4-r11, pc}
.Leight:
    bl      ascon_eight_rounds
    b       .Lpermuted
    .size   ascon_p, . - ascon_p

#define DATA 0
#define BLOCKS 4
#define STATE 8

    .section .text.ascon_absorb, "ax", %progbits
    .global ascon_absorb
    .type   ascon_absorb, %function
    .thumb_func
    .p2align 2
/* void ascon_absorb(ascon_state *s, const uint8_t *data, size_t blocks) */
ascon_absorb:
    push    {r0, r4-r11, lr}
    push    {r1, r2}
    ldm     r0, {r0-r9}
.Labsorb:
    ldr     r10, [sp, #DATA]
    ldr     r11, [r10], #4
    ldr     r12, [r10], #4
    str     r10, [sp, #DATA]
    interleave r11, r12, r10
    eor     r0, r0, r11
    eor     r1, r1, r12
    bl      ascon_twelve_rounds
    ldr     r10, [sp, #BLOCKS]
    subs    r10, r10, #1
    str     r10, [sp, #BLOCKS]
    bne     .Labsorb
    ldr     r12, [sp, #STATE]
    stmia   r12, {r0-r9}
    add     sp, #STATE + 4
    pop     {r4-r11, pc}
    .size   ascon_absorb, . - ascon_absorb

#define OUT 0
#define IN 4
#define LEFT 8 /* remaining blocks */
#define KEPT 12 /* mask of the state bits to keep: zero to decrypt, all ones to encrypt */
#define CRYPT_STATE 16
#define DECRYPTING 56 /* an argument, after the pushed registers */

/* A word of the rate: out = in ^ x, x = in ^ (x & kept). */
.macro crypt_word even, odd, at
    ldr     r10, [sp, #IN]
    ldr     r11, [r10, #\at]
    ldr     r12, [r10, #\at + 4]
    interleave r11, r12, r10
    ldr     lr, [sp, #KEPT]
    eor     r10, r11, \even
    and     \even, \even, lr
    eor     \even, \even, r11
    eor     r11, r12, \odd
    and     \odd, \odd, lr
    eor     \odd, \odd, r12
    ldr     lr, [sp, #OUT]
    deinterleave r10, r11, r12
    str     r10, [lr, #\at]
    str     r11, [lr, #\at + 4]
.endm

    .section .text.ascon_crypt, "ax", %progbits
    .global ascon_crypt
    .type   ascon_crypt, %function
    .thumb_func
    .p2align 2
/* void ascon_crypt(ascon_state *s, uint8_t *out, const uint8_t *in, size_t blocks, int decrypting) */
ascon_crypt:
    push    {r0, r4-r11, lr}
    ldr     r4, [sp, #DECRYPTING - CRYPT_STATE]
    subs    r4, #1
    push    {r1-r4}
    ldm     r0, {r0-r9}
.Lcrypt:
    crypt_word r0, r1, 0
    crypt_word r2, r3, 8
    ldr     r10, [sp, #IN]
    ldr     r11, [sp, #OUT]
    add     r10, r10, #16
    add     r11, r11, #16
    str     r10, [sp, #IN]
    str     r11, [sp, #OUT]
    bl      ascon_eight_rounds
    ldr     r10, [sp, #LEFT]
    subs    r10, r10, #1
    str     r10, [sp, #LEFT]
    bne     .Lcrypt
    ldr     r12, [sp, #CRYPT_STATE]
    stmia   r12, {r0-r9}
    add     sp, #CRYPT_STATE + 4
    pop     {r4-r11, pc}
    .size   ascon_crypt, . - ascon_crypt
