/* void ascon_p(ascon_state *s, unsigned rounds): the Ascon permutation for ARMv7-M; see ascon-p.h. Each
   word is two, of its even bits and of its odd bits, and all stay in registers. */
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

/* pL of a word that turns right by 2 n and by 2 m + 1, which exchanges even and odd bits. */
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

/* The same by 2 n + 1 and 2 m + 1; the even bits go to another register. */
.macro diffuse_odd even, odd, n, m, to
    eor     \to, \even, \odd, ror #\n
    eor     \to, \to, \odd, ror #\m
    eor     \odd, \odd, \even, ror #\n + 1
    eor     \odd, \odd, \even, ror #\m + 1
.endm

/* A round, with the halves of its constant. x1 and x4 have their even bits in the registers x1 and x4,
   and then in \spare and \x1. */
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

    .section .text.ascon_p, "ax", %progbits
    .global ascon_p
    .type   ascon_p, %function
    .thumb_func
    .p2align 2
ascon_p:
    push    {r0, r4-r11, lr}
    cmp     r1, #8
    ldm     r0, {r0-r9}
    beq     .Lenter_eight
    .p2align 2
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
    pop     {r12}
    stmia   r12, {r0-r9}
    pop     {r4-r11, pc}

.Lenter_eight:
    mov     lr, r2
    mov     r2, r8
    b       .Leight_rounds
    .size   ascon_p, . - ascon_p
