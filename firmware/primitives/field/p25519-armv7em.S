/* The field of 2^255 - 19 elements for ARMv7E-M. */
#include "field/multiply-armv7em.S"
#include "field/p25519-armv7m.inc"

/* Working space of the inner functions, on their caller's stack: a product's words, the return
   address, a. They preserve no registers and return an element in r0-r3, r5-r8. */
#define RETURN 48
#define INSIDE_BYTES 56

/* Multiplies the bits from 2^255 up, in r4, the highest word, and r12 above it, by 19, to lr: 2^255
   = 19. */
.macro fold_top
    lsl     r12, r12, #1
    orr     r12, r12, r4, lsr #31
    bic     r4, r4, #0x80000000
    mov     lr, #19
    mul     lr, r12, lr
.endm

/* Reduces the product as product256 leaves it modulo 2^255 - 19: 2^256 = 38. The highest word comes
   first, so that its part above 2^255 joins the single chain; the result is below 2^255 + 2^230. */
.macro reduce
    mov     r0, #38
    mov     r12, #0
    umaal   r4, r12, lr, r0
    fold_top
    mov     r12, r0
    ldm     sp, {r0-r3}                 /* LOW */
    umaal   r0, lr, r5, r12
    umaal   r1, lr, r6, r12
    umaal   r2, lr, r7, r12
    umaal   r3, lr, r8, r12
    ldr     r5, [sp, #HIGH]
    ldr     r6, [sp, #HIGH + 4]
    ldr     r7, [sp, #HIGH + 8]
    umaal   r5, lr, r9, r12
    umaal   r6, lr, r10, r12
    umaal   r7, lr, r11, r12
    add     r8, r4, lr
.endm

/* Stores the element in r0-r3, r5-r8 in the frame. */
.macro put to
    .irp    w, 0, 1, 2, 3
    str     r\w, [sp, #\to + 4 * \w]
    .endr
    .irp    w, 5, 6, 7, 8
    str     r\w, [sp, #\to + 4 * \w - 4]
    .endr
.endm

.macro public
    push    {r0, r4-r11, lr}
    sub     sp, #INSIDE_BYTES
.endm

.macro leave_public
    add     sp, #INSIDE_BYTES
    pop     {r4}
    stm     r4, {r0-r3, r5-r8}
    pop     {r4-r11, pc}
.endm

/* void p25519_multiply(uint32_t out[8], const uint32_t a[8], const uint32_t b[8]); */
function p25519_multiply
    public
    bl      inside_multiply
    leave_public

/* void p25519_square(uint32_t out[8], const uint32_t a[8]); */
function p25519_square
    public
    bl      inside_square
    leave_public

/* An element, the remaining number of squarings, b. */
#define POWER 56
#define TIMES 88
#define FACTOR 92
#define POWER_BYTES 96

/* void p25519_square_times(uint32_t out[8], const uint32_t a[8], unsigned count,
                            const uint32_t b[8])

   out = a^(2^count) b, count above 0. */
function p25519_square_times
    push    {r0, r4-r11, lr}
    sub     sp, #POWER_BYTES
    str     r3, [sp, #FACTOR]
1:  str     r2, [sp, #TIMES]
    bl      inside_square
    put     POWER
    add     r1, sp, #POWER
    ldr     r2, [sp, #TIMES]
    subs    r2, r2, #1
    bne     1b
    ldr     r2, [sp, #FACTOR]
    bl      inside_multiply
    add     sp, #POWER_BYTES - INSIDE_BYTES
    leave_public

/* The frame of the ladder: elements; a pair is a point, or a sum and a difference, which are 128
   bytes above their operands; then the scalar, its next bit, and the previous one. */
#define PX 56
#define PZ 88
#define QX 120
#define QZ 152
#define A_ 184
#define B_ 216
#define C_ 248
#define D_ 280
#define X1 312
#define SCALAR 344
#define BIT 348
#define BEFORE 352
#define LADDER_BYTES 356

.macro product to, a, b
    add     r1, sp, #\a
    add     r2, sp, #\b
    bl      inside_multiply
    put     \to
.endm

.macro squared to, a
    add     r1, sp, #\a
    bl      inside_square
    put     \to
.endm

.macro sum_and_difference at
    add     r1, sp, #\at
    bl      inside_sum_and_difference
.endm

/* Subtracts 38 if a difference borrowed, according to the flag: for elements below 2^255 + 2^230,
   the rest is large enough. */
.macro borrowed w0, w1, w2, w3, w4, w5, w6, w7
    sbc     r12, r12, r12
    and     r12, r12, #38
    subs    \w0, \w0, r12
    .irp    w, \w1, \w2, \w3, \w4, \w5, \w6
    sbcs    \w, \w, #0
    .endr
    sbc     \w7, \w7, #0
.endm

/* void p25519_ladder(uint32_t x_z[16], const uint32_t x[8], const uint8_t scalar[32])

   The ladder of RFC 7748, section 5, over bits 254 to 0 of a scalar whose last bit is 0. Instead of
   swapping the points P and Q it selects the one to double: their sum is unchanged, up to signs,
   which squaring removes. */
function p25519_ladder
    push    {r0, r4-r11, lr}
    sub     sp, #LADDER_BYTES
    str     r2, [sp, #SCALAR]
    ldm     r1, {r1-r8}
    add     r0, sp, #X1
    stm     r0, {r1-r8}
    add     r0, sp, #QX
    stm     r0!, {r1-r8}
    movs    r1, #1
    .irp    w, r2, r3, r4, r5, r6, r7, r8
    movs    \w, #0
    .endr
    stm     r0, {r1-r8}                 /* QZ */
    add     r0, sp, #PX
    stm     r0!, {r1-r8}
    str     r2, [sp, #BEFORE]
    movs    r1, #0
    stm     r0, {r1-r8}
    movs    r1, #254
1:  str     r1, [sp, #BIT]
    sum_and_difference PX               /* to A, B */
    sum_and_difference QX               /* to C, D */
    product PX, D_, A_
    product PZ, C_, B_
    /* Copy A, B to C, D if the bit equals the previous one, by the flags in SEL: all or none. */
    ldr     r1, [sp, #BIT]
    ldr     r0, [sp, #SCALAR]
    ldr     r2, [sp, #BEFORE]
    lsrs    r3, r1, #3
    ldrb    r0, [r0, r3]
    and     r1, r1, #7
    lsrs    r0, r0, r1
    ands    r0, r0, #1
    str     r0, [sp, #BEFORE]
    eors    r0, r0, r2
    negs    r0, r0
    uadd8   r0, r0, r0
    add     r0, sp, #A_
    add     r1, sp, #C_
    .rept   4
    ldm     r0!, {r2-r5}
    ldm     r1, {r6-r9}
    sel     r2, r6, r2
    sel     r3, r7, r3
    sel     r4, r8, r4
    sel     r5, r9, r5
    stm     r1!, {r2-r5}
    .endr
    sum_and_difference PX               /* to A, B */
    squared QX, A_
    squared B_, B_
    product QZ, B_, X1
    squared C_, C_
    squared D_, D_
    /* B = C - D, and A = 121665 (C - D) + C. */
    add     lr, sp, #C_
    ldm     lr!, {r4, r9-r11}
    subs    r0, r4, r0
    sbcs    r1, r9, r1
    sbcs    r2, r10, r2
    sbcs    r3, r11, r3
    ldm     lr, {r4, r9-r11}
    sbcs    r5, r4, r5
    sbcs    r6, r9, r6
    sbcs    r7, r10, r7
    sbcs    r8, r11, r8
    borrowed r0, r1, r2, r3, r5, r6, r7, r8
    mov     r9, r11
    put     B_
    movw    r11, #121665 & 0xffff
    movt    r11, #121665 >> 16
    mov     r4, r9
    mov     r12, #0
    umaal   r4, r12, r8, r11
    fold_top
    mov     r12, lr
    add     lr, sp, #C_
    ldm     lr, {r8-r10, lr}
    umaal   r8, r12, r0, r11
    umaal   r9, r12, r1, r11
    umaal   r10, r12, r2, r11
    umaal   lr, r12, r3, r11
    ldr     r0, [sp, #C_ + 16]
    ldr     r1, [sp, #C_ + 20]
    ldr     r2, [sp, #C_ + 24]
    umaal   r0, r12, r5, r11
    umaal   r1, r12, r6, r11
    umaal   r2, r12, r7, r11
    add     r3, r4, r12
    add     r4, sp, #A_
    stm     r4!, {r8-r10, lr}
    stm     r4, {r0-r3}
    product PX, C_, D_
    product PZ, A_, B_
    ldr     r1, [sp, #BIT]
    subs    r1, r1, #1
    bpl     1b
    ldr     r0, [sp, #LADDER_BYTES]
    add     r1, sp, #PX
    ldm     r1!, {r2-r9}
    stm     r0!, {r2-r9}
    ldm     r1, {r2-r9}
    stm     r0, {r2-r9}
    add     sp, #LADDER_BYTES + 4
    pop     {r4-r11, pc}

    .section .text.p25519_inside, "ax"  /* kept whichever of the functions above are linked */
    .balign 4

/* *r1 times *r2 */
    .thumb_func
inside_multiply:
    str     lr, [sp, #RETURN]
    str     r1, [sp, #A]
    product256
    reduce
    ldr     pc, [sp, #RETURN]

/* *r1 squared */
    .thumb_func
inside_square:
    str     lr, [sp, #RETURN]
    product256_square
    reduce
    ldr     pc, [sp, #RETURN]

/* Words of a sum and a difference, where x is one operand and y the other. */
.macro both_words at, d0, d1, first, others
    ldr     r2, [r1, #\at]
    ldr     r3, [r1, #\at + 4]
    ldr     r4, [r1, #\at + 32]
    ldr     r5, [r1, #\at + 36]
    \first  \d0, r2, r4
    \others \d1, r3, r5
    umaal   r2, r12, r4, r0
    umaal   r3, r12, r5, r0
    str     r2, [r1, #\at + 128]
    str     r3, [r1, #\at + 132]
.endm

/* *(r1 + 128) = *r1 + *(r1 + 32), *(r1 + 160) = *r1 - *(r1 + 32), for elements below 2^255 + 2^230.
   The addition's chain starts with what the sum's highest words have above 2^255, or 2^31 less
   where the low bits of both matter. */
    .thumb_func
inside_sum_and_difference:
    ldr     r2, [r1, #28]
    ldr     r3, [r1, #60]
    lsrs    r2, r2, #1
    add     r2, r2, r3, lsr #1
    lsrs    r2, r2, #30
    mov     r12, #19
    mul     r12, r12, r2
    lsls    r2, r2, #31
    str     r2, [sp, #HIGH]
    mov     r0, #1
    both_words 0, r6, r7, subs, sbcs
    both_words 8, r8, r9, sbcs, sbcs
    both_words 16, r10, r11, sbcs, sbcs
    ldr     r2, [r1, #24]
    ldr     r3, [r1, #56]
    sbcs    r4, r2, r3
    umaal   r2, r12, r3, r0
    str     r2, [r1, #152]
    ldr     r2, [r1, #28]
    ldr     r3, [r1, #60]
    ldr     r0, [sp, #HIGH]
    sbcs    r5, r2, r3
    add     r2, r2, r3
    add     r2, r2, r12
    sub     r2, r2, r0
    str     r2, [r1, #156]
    borrowed r6, r7, r8, r9, r10, r11, r4, r5
    str     r4, [r1, #184]
    str     r5, [r1, #188]
    add     r1, r1, #160
    stm     r1, {r6-r11}
    bx      lr
