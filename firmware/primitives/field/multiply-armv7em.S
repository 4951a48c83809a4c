/* Products of 256-bit integers for ARMv7E-M cores, whose UMULL and UMAAL take one cycle for all
   operands (Cortex-M4 TRM, DDI 0439B, table 3-1). UMAAL adds two words to a product and cannot
   overflow: (2^32 - 1)^2 + 2 (2^32 - 1) < 2^64. A row of products by one word of b therefore needs
   no flags: each UMAAL adds the accumulated word and the previous product's carry. */
#include "field/words-armv7m.inc"

/* The frame of a product: its low words; temporary words, of the product or of a reduction; the
   arguments, after one word for the caller. */
#define LOW 0
#define HIGH 16
#define FRAME_BYTES 48
#define A 52

/* Multiplies four words a0-a3 in r0-r3 by a word of b and adds w0-w3 and c: the result is w0-w3,
   and c above them. */
.macro row by, w0, w1, w2, w3, c
    umaal   \w0, \c, r0, \by
    umaal   \w1, \c, r1, \by
    umaal   \w2, \c, r2, \by
    umaal   \w3, \c, r3, \by
.endm

/* A row where c is initially 0. */
.macro row_on by, w0, w1, w2, w3, c
    mov     \c, #0
    row     \by, \w0, \w1, \w2, \w3, \c
.endm

/* Multiplies words a0-a3 of a square, in r2-r5, by another of its words. */
.macro column by, w0, w1, w2, w3, c
    umaal   \w0, \c, r2, \by
    umaal   \w1, \c, r3, \by
    umaal   \w2, \c, r4, \by
    umaal   \w3, \c, r5, \by
.endm

/* r1 = a, which is also at A, r2 = b. The product in words: 0 to 3 at LOW, 4 to 6 at HIGH, 7 to 11
   in r4-r8, 12 to 15 in r9, r10, r11, lr. First a's low half by b, then its high half. */
.macro product256
    mov     lr, r2
    ldm     r1, {r0-r3}
    ldm     lr!, {r10, r11}
    umull   r5, r7, r0, r10
    str     r5, [sp, #LOW]
    umull   r5, r8, r1, r10
    umull   r9, r4, r2, r10
    umull   r12, r6, r3, r10
    /* Each of the first row's upper words is the start of a later row. */
    row     r11, r5, r9, r12, r6, r7
    ldm     lr!, {r10, r11}
    str     r5, [sp, #LOW + 4]
    row     r10, r9, r12, r6, r7, r8
    str     r9, [sp, #LOW + 8]
    row     r11, r12, r6, r7, r8, r4
    str     r12, [sp, #LOW + 12]
    ldr     r5, [lr, #12]
    ldm     lr, {r10-r12}
    row_on  r10, r6, r7, r8, r4, r9
    row_on  r11, r7, r8, r4, r9, r10
    row_on  r12, r8, r4, r9, r10, r11
    row_on  r5, r4, r9, r10, r11, r12
    /* Words 4 to 11: r6, r7, r8, r4, r9, r10, r11, r12; the last one is stored. */
    str     r12, [sp, #HIGH + 12]
    ldr     r0, [sp, #A]
    ldr     r12, [lr, #-16]
    ldr     r1, [r0, #20]
    ldr     r2, [r0, #24]
    ldr     r3, [r0, #28]
    ldr     r0, [r0, #16]
    row_on  r12, r6, r7, r8, r4, r5
    ldr     r12, [lr, #-12]
    str     r6, [sp, #HIGH]
    row_on  r12, r7, r8, r4, r5, r6
    ldr     r12, [lr, #-8]
    str     r7, [sp, #HIGH + 4]
    row_on  r12, r8, r4, r5, r6, r7
    ldr     r12, [lr, #-4]
    str     r8, [sp, #HIGH + 8]
    row_on  r12, r4, r5, r6, r7, r8
    ldr     r12, [lr]
    row     r12, r5, r6, r7, r8, r9
    ldr     r12, [lr, #4]
    row     r12, r6, r7, r8, r9, r10
    ldr     r12, [lr, #8]
    row     r12, r7, r8, r9, r10, r11
    ldr     r12, [lr, #12]
    ldr     lr, [sp, #HIGH + 12]
    row     r12, r8, r9, r10, r11, lr
.endm

/* The same for a's square: products of two different words are computed once; UMAAL by 2 then adds
   them to the squares of words: S + 2 W + the carry, at most 2. */
.macro product256_square
    ldm     r1!, {r2-r5}
    umull   r6, r8, r2, r3
    umull   r10, r7, r3, r4
    mov     r9, #0
    umaal   r8, r9, r2, r4
    umaal   r10, r9, r2, r5
    umaal   r7, r9, r3, r5
    mov     r11, #0
    umaal   r9, r11, r4, r5             /* words 1 to 6: r6, r8, r10; r7, r9, r11 */
    umull   r0, r12, r2, r2
    str     r0, [sp, #LOW]
    mov     lr, #2
    mov     r0, #0
    umaal   r0, r12, r6, lr
    str     r0, [sp, #LOW + 4]
    umull   r0, r6, r3, r3
    umaal   r0, r12, r8, lr
    str     r0, [sp, #LOW + 8]
    umaal   r6, r12, r10, lr
    str     r6, [sp, #LOW + 12]
    mov     r0, #0
    umaal   r12, r0, r4, r4             /* squares for words 4 to 7, with the carry */
    umull   r6, r8, r5, r5
    str     r12, [sp, #HIGH]
    str     r0, [sp, #HIGH + 4]
    str     r6, [sp, #HIGH + 8]
    str     r8, [sp, #HIGH + 12]
    ldm     r1, {r6, r8, r10, lr}       /* a4 to a7 */
    mov     r0, #0
    mov     r1, #0
    column  r6, r7, r9, r11, r0, r1     /* words 4 to 8 */
    str     r7, [sp, #HIGH + 16]
    mov     r7, #0
    column  r8, r9, r11, r0, r1, r7     /* words 5 to 9 */
    str     r9, [sp, #HIGH + 20]
    mov     r9, #0
    column  r10, r11, r0, r1, r7, r9    /* words 6 to 10 */
    str     r11, [sp, #HIGH + 24]
    mov     r11, #0
    column  lr, r0, r1, r7, r9, r11     /* words 7 to 11 */
    ldr     r2, [sp, #HIGH]
    ldr     r3, [sp, #HIGH + 4]
    ldr     r5, [sp, #HIGH + 16]
    mov     r4, #2
    mov     r12, #0
    umaal   r2, r12, r5, r4
    ldr     r5, [sp, #HIGH + 20]
    str     r2, [sp, #HIGH]
    umaal   r3, r12, r5, r4
    ldr     r2, [sp, #HIGH + 8]
    ldr     r5, [sp, #HIGH + 24]
    str     r3, [sp, #HIGH + 4]
    ldr     r3, [sp, #HIGH + 12]
    umaal   r2, r12, r5, r4
    str     r2, [sp, #HIGH + 8]
    umaal   r3, r12, r0, r4
    str     r3, [sp, #HIGH + 12]
    mov     r0, #0
    umaal   r7, r0, r6, r8
    umaal   r9, r0, r6, r10
    umaal   r11, r0, r6, lr
    mov     r2, #0
    umaal   r11, r2, r8, r10
    umaal   r0, r2, r8, lr
    mov     r3, #0
    umaal   r2, r3, r10, lr             /* words 8 to 14: r1, r7, r9, r11, r0, r2, r3 */
    umull   r5, r6, r6, r6
    umaal   r5, r12, r1, r4
    umaal   r6, r12, r7, r4
    umull   r7, r8, r8, r8
    umaal   r7, r12, r9, r4
    umaal   r8, r12, r11, r4
    umull   r9, r10, r10, r10
    umaal   r9, r12, r0, r4
    umaal   r10, r12, r2, r4
    umull   r11, lr, lr, lr
    umaal   r11, r12, r3, r4
    ldr     r4, [sp, #HIGH + 12]
    add     lr, lr, r12
.endm
