/* void ascon_p(ascon_state *s, unsigned rounds)

   The Ascon permutation for the MSP430; see ascon-p.h. Twenty 16-bit words do not fit twelve
   registers, so the words alternate between two areas on the stack. MIXED holds pL's result, the
   words of x1 to x4 by bit position, in the order in which pS reads them; pS pushes x0 to x3 below
   that. x0 stays in A from pL to pS, and x4 from pS to pL.

   pL rotates by single bits, 5 cycles, and by bytes, 16 cycles; rotations by words only rename. */

#define A0 r4
#define A1 r5
#define A2 r6
#define A3 r7
#define B0 r8
#define B1 r9
#define B2 r10
#define B3 r11
#define C0 r12
#define C1 r13
#define C2 r14
#define C3 r15

/* pS of one word of each of x0 to x4; \a is x0 and becomes x4 (figure 3 of SP 800-232). */
#define X1 r8
#define X2 r9
#define X3 r10
#define X4 r11
#define T0 r12
#define T4 r13
#define T r14
#define IN r15

.macro load_column
    mov     @IN+, X1
    mov     @IN+, X2
    mov     @IN+, X3
    mov     @IN+, X4
.endm

.macro substitute a
    xor     X4, \a
    xor     X3, X4
    xor     X1, X2
    mov     X1, T0
    bic     \a, T0
    mov     \a, T4
    bic     X4, T4
    mov     X2, T
    bic     X1, T
    xor     T, \a
    mov     X3, T
    bic     X2, T
    xor     T, X1
    mov     X4, T
    bic     X3, T
    xor     T, X2
    xor     T4, X3
    xor     T0, X4
    xor     \a, X1
    xor     X4, \a
    xor     X2, X3
    inv     X2
    push    \a
    push    X1
    push    X2
    push    X3
    mov     X4, \a
.endm

/* Where word i of xj is after pS, for j < 4, and where pL leaves it, for j > 0. No parentheses:
   LLVM's assembler drops an instruction whose operand begins with one. */
#define SUBSTITUTED(i, j) 30 - 8 * i - 2 * j(sp)
#define MIXED(i, j) 30 + 8 * i + 2 * j(sp)

.macro load j
    mov     SUBSTITUTED(0, \j), A0
    mov     SUBSTITUTED(1, \j), A1
    mov     SUBSTITUTED(2, \j), A2
    mov     SUBSTITUTED(3, \j), A3
.endm

.macro store j
    mov     A0, MIXED(0, \j)
    mov     A1, MIXED(1, \j)
    mov     A2, MIXED(2, \j)
    mov     A3, MIXED(3, \j)
.endm

.macro copy from0, from1, from2, from3
    mov     \from0, B0
    mov     \from1, B1
    mov     \from2, B2
    mov     \from3, B3
.endm

.macro add_to_a w0, w1, w2, w3
    xor     \w0, A0
    xor     \w1, A1
    xor     \w2, A2
    xor     \w3, A3
.endm

.macro right_1 w0, w1, w2, w3
    bit     #1, \w0
    rrc     \w3
    rrc     \w2
    rrc     \w1
    rrc     \w0
.endm

.macro left_1 w0, w1, w2, w3
    rla     \w0
    rlc     \w1
    rlc     \w2
    rlc     \w3
    adc     \w0
.endm

/* C = B rotated right by 8; destroys B. */
.macro right_8
    swpb    B0
    mov.b   B0, C0
    xor     C0, B0
    swpb    B1
    mov.b   B1, C1
    xor     C1, B1
    swpb    B2
    mov.b   B2, C2
    xor     C2, B2
    swpb    B3
    mov.b   B3, C3
    xor     C3, B3
    xor     B1, C0
    xor     B2, C1
    xor     B3, C2
    xor     B0, C3
.endm

    .section .text.ascon_p, "ax", @progbits
    .global ascon_p
    .type   ascon_p, @function
ascon_p:
    push    r4
    push    r5
    push    r6
    push    r7
    push    r8
    push    r9
    push    r10
    push    r11
    push    r12

    /* The first round's constant: the last one is 0x4b, and each is 0x0f less than the previous. */
    mov     r13, r14
    rla     r14
    rla     r14
    rla     r14
    rla     r14
    sub     r13, r14
    add     #0x3c, r14
    push    r14
#define CONSTANT 32(sp)

    .irp    i, 3, 2, 1, 0
    .irp    j, 4, 3, 2, 1
    mov     8 * \j + 2 * \i(r12), r13
    push    r13
    .endr
    .endr
    mov     @r12+, A0
    mov     @r12+, A1
    mov     @r12+, A2
    mov     @r12+, A3

.Lround:
    mov     sp, IN
    load_column
    xor     CONSTANT, X2
    substitute A0
    load_column
    substitute A1
    load_column
    substitute A2
    load_column
    substitute A3

    /* x4: 7 is 8 and back by 1; 41 is two words, 8 and 1. */
    copy    A0, A1, A2, A3
    right_8
    copy    C0, C1, C2, C3
    left_1  B0, B1, B2, B3
    right_1 C0, C1, C2, C3
    add_to_a B0, B1, B2, B3
    add_to_a C2, C3, C0, C1
    store   4

    /* x1: 39 is two words, 8 and back by 1; 61 is back by 3. */
    load    1
    copy    A0, A1, A2, A3
    right_8
    left_1  C0, C1, C2, C3
    copy    A0, A1, A2, A3
    left_1  B0, B1, B2, B3
    left_1  B0, B1, B2, B3
    left_1  B0, B1, B2, B3
    add_to_a C2, C3, C0, C1
    add_to_a B0, B1, B2, B3
    store   1

    /* x2: 1 and 6. */
    load    2
    copy    A0, A1, A2, A3
    right_1 B0, B1, B2, B3
    add_to_a B0, B1, B2, B3
    right_1 B0, B1, B2, B3
    right_1 B0, B1, B2, B3
    right_1 B0, B1, B2, B3
    right_1 B0, B1, B2, B3
    right_1 B0, B1, B2, B3
    add_to_a B0, B1, B2, B3
    store   2

    /* x3: 17 is a word and 1; 10 is 1, 8 and 1. */
    load    3
    copy    A0, A1, A2, A3
    right_1 B0, B1, B2, B3
    add_to_a B1, B2, B3, B0
    right_8
    right_1 C0, C1, C2, C3
    add_to_a C0, C1, C2, C3
    store   3

    /* x0: 19 is a word and 3; 28 is a word, 3, 8 and 1. */
    load    0
    copy    A0, A1, A2, A3
    right_1 B0, B1, B2, B3
    right_1 B0, B1, B2, B3
    right_1 B0, B1, B2, B3
    add_to_a B1, B2, B3, B0
    right_8
    right_1 C0, C1, C2, C3
    add_to_a C1, C2, C3, C0

    add     #32, sp
    sub     #0x0f, CONSTANT
    cmp     #0x3c, CONSTANT
    jeq     .Ldone
    br      #.Lround

.Ldone:
    mov     34(sp), r12
    mov     A0, 0(r12)
    mov     A1, 2(r12)
    mov     A2, 4(r12)
    mov     A3, 6(r12)
    .irp    i, 0, 1, 2, 3
    .irp    j, 1, 2, 3, 4
    pop     r13
    mov     r13, 8 * \j + 2 * \i(r12)
    .endr
    .endr
    add     #4, sp
    pop     r11
    pop     r10
    pop     r9
    pop     r8
    pop     r7
    pop     r6
    pop     r5
    pop     r4
    ret
    .size   ascon_p, . - ascon_p
