/* void trivium_steps(uint16_t *window, uint16_t *keystream, unsigned words)

   16 steps of Trivium for each word, in about 130 cycles.

   Every feedback is at least 66 steps away, so 16 steps depend only on known bits. Their taps at
   one position are 16 bits of two adjacent words, obtained by shifting the pair of words left or
   right; taps of one pair share the shifts. The registers' oldest words hold the bits from 96, 96
   and 112 steps back. */

#define WINDOW r12
#define KEYSTREAM r13
#define WORDS r14
#define Z r15
#define T1 r4
#define T2 r5
#define T3 r6
#define U r7
#define X0 r8
#define X1 r9
#define X2 r10
#define Y r11

/* trivium_ctx: a, b and c, with room for 16 words after the first 6, 6 and 7. */
#define OFFSET_B 44
#define OFFSET_C 88
#define A(i) 2 * i(WINDOW)
#define B(i) OFFSET_B + 2 * i(WINDOW)
#define C(i) OFFSET_C + 2 * i(WINDOW)

/* Shifts a pair of words by one bit: \low holds the result of right shifts, \high of left
   shifts. */
.macro right high, low
    rra     \high
    rrc     \low
.endm

.macro left high, low
    rla     \low
    rlc     \high
.endm

    .section .text.trivium_steps, "ax", @progbits
    .global trivium_steps
    .type   trivium_steps, @function
trivium_steps:
    push    r4
    push    r5
    push    r6
    push    r7
    push    r8
    push    r9
    push    r10
    push    r11

.Lword:
    /* T1 = s66 + s93, U = s91 s92, T3 = s69 */
    mov     A(0), X0
    mov     A(1), X1
    mov     A(2), T3
    mov     X1, Y
    right   Y, X0
    right   Y, X0
    right   Y, X0
    mov     X0, T1
    right   Y, X0
    mov     X0, U
    right   Y, X0
    and     X0, U
    left    T3, X1
    left    T3, X1
    xor     T3, T1
    left    T3, X1
    left    T3, X1
    left    T3, X1
    mov     T1, Z
    xor     U, T1

    /* s171 completes the bits that enter b */
    mov     B(1), X1
    mov     B(2), X2
    mov     X1, X0
    mov     X2, Y
    right   Y, X0
    right   Y, X0
    xor     X0, T1

    /* T2 = s162 + s177, U = s175 s176 */
    mov     B(0), X0
    mov     X1, T2
    mov     T1, B(6)
    left    T2, X0
    left    T2, X0
    mov     T2, U
    left    T2, X0
    and     T2, U
    left    T2, X0
    left    X2, X1
    left    X2, X1
    left    X2, X1
    left    X2, X1
    left    X2, X1
    xor     X2, T2
    xor     T2, Z
    xor     U, T2

    /* T1 = s288 + s243, U = s286 s287 */
    mov     C(0), X0
    mov     C(1), X1
    mov     C(2), X2
    mov     X1, Y
    right   Y, X0
    mov     X0, T1
    right   Y, X0
    mov     X0, U
    right   Y, X0
    and     X0, U
    xor     U, T3

    /* s264, 9 bits into the pair: a byte, and a bit */
    swpb    X1
    mov.b   X1, X1
    mov     X2, Y
    swpb    Y
    mov.b   Y, U
    xor     U, Y
    bis     Y, X1
    bit     #1, U
    rrc     X1
    xor     X1, T2
    mov     T2, C(7)

    mov     C(3), Y
    left    Y, X2
    left    Y, X2
    xor     Y, T1
    xor     T1, Z
    xor     T1, T3
    mov     T3, A(6)

    mov     Z, 0(KEYSTREAM)
    incd    KEYSTREAM
    incd    WINDOW
    dec     WORDS
    jnz     .Lword

    pop     r11
    pop     r10
    pop     r9
    pop     r8
    pop     r7
    pop     r6
    pop     r5
    pop     r4
    ret
    .size   trivium_steps, . - trivium_steps
