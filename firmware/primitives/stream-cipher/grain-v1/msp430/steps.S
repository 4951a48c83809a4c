/* void grain_v1_steps(uint16_t *window, uint16_t *keystream, unsigned words, uint16_t feedback)

   16 steps of Grain v1 for each word, in about 310 cycles.

   The highest tap is 64 and the registers have 80 bits, so 16 steps depend only on known bits.
   Their taps at one position are 16 bits of two adjacent words, obtained by shifting the pair of
   words left or right; taps of one pair share the shifts. The feedback is factored so that each tap
   is consumed as it is obtained:
     g = b62 + b60 + b52 + b45 + b28 + b21 + b14 + b0      (and s0)
       + (b9 and not b15) + (b33 or b37)
       + (U and not R) + (P and not b21 b15)               U = b33 b28 b21, R = b15 b9, P = b63 b60
       + b63 b45 b28 b9 + b60 b52 (b45 + b33 b37) + b52 b45 b37 (P + U)
     h = x1 + x4 + x3 ((x0 or x2) + (x4 and not x2)) + x2 (x0 (x1 + x4) + x1 x4) */

#define WINDOW r15
#define G r4
#define Z r5
#define X0 r6
#define X1 r7
#define Y r8
#define K1 r9
#define K2 r10
#define K3 r11
#define K4 r12
#define K5 r13
#define K6 r14
#define F K6

/* grain_v1_ctx: b and s, with room for 16 words after the first 5. */
#define OFFSET_S 42
#define B(i) 2 * i(WINDOW)
#define S(i) OFFSET_S + 2 * i(WINDOW)

#define KEYSTREAM 0(sp)
#define WORDS 2(sp)
#define FEEDBACK 4(sp)

/* Shifts a pair of words by some bits: \low holds the result of right shifts, \high of left
   shifts. */
.macro right count, high, low
    .rept   \count
    rra     \high
    rrc     \low
    .endr
.endm

.macro left count, high, low
    .rept   \count
    rla     \low
    rlc     \high
    .endr
.endm

    .section .text.grain_v1_steps, "ax", @progbits
    .global grain_v1_steps
    .type   grain_v1_steps, @function
grain_v1_steps:
    push    r4
    push    r5
    push    r6
    push    r7
    push    r8
    push    r9
    push    r10
    push    r11
    push    r15
    push    r14
    push    r13
    mov     r12, WINDOW

.Lword:
    /* b0, 1, 2, 4 and 15, 14, 10, 9 */
    mov     B(0), X0
    mov     B(1), X1
    mov     X0, G
    mov     X1, Y
    right   1, Y, X0
    mov     X0, Z
    right   1, Y, X0
    xor     X0, Z
    right   2, Y, X0
    xor     X0, Z
    mov     G, X0
    left    1, X1, X0
    mov     X1, K2                  /* K2 = b15 */
    left    1, X1, X0
    xor     X1, G
    left    4, X1, X0
    xor     X1, Z
    left    1, X1, X0
    mov     X1, K1                  /* K1 = b9 */
    mov     X1, K3
    and     K2, K3                  /* K3 = R */
    bic     K2, X1
    xor     X1, G

    /* b21 and 31, 28 */
    mov     B(1), X0
    mov     B(2), X1
    mov     X1, Y
    right   5, Y, X0
    xor     X0, G
    and     X0, K2                  /* K2 = b21 b15 */
    mov     X0, K4
    mov     B(1), X0
    left    1, X1, X0
    xor     X1, Z
    left    3, X1, X0
    xor     X1, G
    and     X1, K1                  /* K1 = b28 b9 */
    and     X1, K4                  /* K4 = b28 b21 */

    /* b33, 37 and 45, 43 */
    mov     B(2), X0
    mov     B(3), X1
    mov     X1, Y
    right   1, Y, X0
    mov     X0, K5
    and     X0, K4                  /* K4 = U */
    right   4, Y, X0
    mov     X0, K6                  /* K6 = b37 */
    bis     K5, X0
    xor     X0, G
    and     K6, K5                  /* K5 = b33 b37 */
    mov     K4, Y
    bic     K3, Y
    xor     Y, G
    mov     B(2), X0
    left    3, X1, X0
    xor     X1, G
    and     X1, K1                  /* K1 = b45 b28 b9 */
    xor     X1, K5                  /* K5 = b45 + b33 b37 */
    mov     X1, K3                  /* K3 = b45 */
    left    2, X1, X0
    xor     X1, Z

    /* b52, 56, 60, 62, 63 */
    mov     B(3), X0
    mov     B(4), X1
    right   4, X1, X0
    xor     X0, G
    and     X0, K5
    and     X0, K3
    and     K3, K6                  /* K6 = b52 b45 b37 */
    right   4, X1, X0
    xor     X0, Z
    right   4, X1, X0
    xor     X0, G
    mov     X0, Y
    and     X0, K5
    xor     K5, G
    right   2, X1, X0
    xor     X0, G
    right   1, X1, X0
    and     X0, Y                   /* Y = P */
    and     X0, K1
    xor     K1, G
    mov     X0, K1                  /* K1 = b63 = x4 */
    mov     Y, X0
    bic     K2, X0
    xor     X0, G
    xor     K4, Y
    and     K6, Y
    xor     Y, G

    /* s0, 3 and 13 */
    mov     S(0), F
    mov     S(1), X1
    xor     F, G
    mov     F, X0
    mov     X1, Y
    right   3, Y, X0
    mov     X0, K2                  /* K2 = x0 */
    mov     F, X0
    left    3, X1, X0
    xor     X1, F

    /* s23, 25 */
    mov     S(1), X0
    mov     S(2), X1
    right   7, X1, X0
    xor     X0, F
    right   2, X1, X0
    mov     X0, K3                  /* K3 = x1 */

    /* s38 and 46 */
    mov     S(2), X0
    mov     S(3), X1
    mov     X1, Y
    right   6, Y, X0
    xor     X0, F
    mov     S(2), X0
    left    2, X1, X0
    mov     X1, K4                  /* K4 = x2 */

    /* s51 and 62, and 64 */
    mov     S(3), X0
    mov     S(4), X1
    mov     X1, K5                  /* K5 = x3 */
    mov     X1, Y
    right   3, Y, X0
    xor     X0, F
    mov     S(3), X0
    left    2, X1, X0
    xor     X1, F

    /* h */
    mov     K2, X0
    bis     K4, X0
    mov     K1, Y
    bic     K4, Y
    xor     Y, X0
    and     K5, X0
    xor     X0, Z
    xor     K3, Z
    xor     K1, Z
    mov     K3, Y
    and     K1, Y
    xor     K1, K3
    and     K2, K3
    xor     Y, K3
    and     K4, K3
    xor     K3, Z

    mov     Z, Y
    and     FEEDBACK, Y
    xor     Y, F
    xor     Y, G
    mov     F, S(5)
    mov     G, B(5)
    mov     KEYSTREAM, Y
    mov     Z, 0(Y)
    incd    Y
    mov     Y, KEYSTREAM
    incd    WINDOW
    dec     WORDS
    jz      .Ldone
    br      #.Lword

.Ldone:
    add     #6, sp
    pop     r11
    pop     r10
    pop     r9
    pop     r8
    pop     r7
    pop     r6
    pop     r5
    pop     r4
    ret
    .size   grain_v1_steps, . - grain_v1_steps
