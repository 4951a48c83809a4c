/* Products of 256-bit polynomials over GF(2) for ARMv7-M cores; time and addresses do not depend on
   the operands. MUL, which takes one cycle, multiplies integers in which only every fourth bit is
   set: at most eight products are added in one bit, so their sum extends into the next three bits,
   which are masked off (method of Pornin, BearSSL, "Constant-Time Mul"). MUL gives the low half of
   64 bits; the high half is the low half of the product of the bit-reversed operands, reversed.
   Karatsuba's method ("Multiplication of multidigit numbers on automata", 1963) makes 256 bits from
   32. */
    .syntax unified
    .thumb

#define A r2
#define B r3
#define T r12
#define SUM lr

/* One of the four sets of bits: \to = the sum of the four products whose bits are in this set. */
.macro quarter to, mask, b0, b1, b2, b3
    mul     \to, r4, \b0
    mul     T, r5, \b1
    eor     \to, \to, T
    mul     T, r6, \b2
    eor     \to, \to, T
    mul     T, r7, \b3
    eor     \to, \to, T
    and     \to, \to, \mask
.endm

/* out = the lower 32 bits of A B. */
.macro lower out
    and     r4, A, #0x11111111
    and     r5, A, #0x22222222
    and     r6, A, #0x44444444
    and     r7, A, #0x88888888
    and     r8, B, #0x11111111
    and     r9, B, #0x22222222
    and     r10, B, #0x44444444
    and     r11, B, #0x88888888
    quarter \out, #0x11111111, r8, r11, r10, r9
    quarter SUM, #0x22222222, r9, r8, r11, r10
    orr     \out, \out, SUM
    quarter SUM, #0x44444444, r10, r9, r8, r11
    orr     \out, \out, SUM
    quarter SUM, #0x88888888, r11, r10, r9, r8
    orr     \out, \out, SUM
.endm

/* r0 and r1 = A B. */
.macro product_32
    lower   r0
    rbit    A, A
    rbit    B, B
    lower   r1
    rbit    r1, r1
    lsr     r1, r1, #1
.endm

/* The 64-bit polynomial at r1 times the one at r2, to r0. Changes all registers. */
    .section .text.gf2_product_256, "ax"
    .balign 4
    .thumb_func
product_64:
    push    {r0-r2, lr}
    sub     sp, #8
    ldr     A, [r1]
    ldr     B, [sp, #16]
    ldr     B, [B]
    product_32
    strd    r0, r1, [sp]
    ldrd    r4, r5, [sp, #12]
    ldr     A, [r4, #4]
    ldr     B, [r5, #4]
    product_32
    ldr     r4, [sp, #8]
    strd    r0, r1, [r4, #8]
    ldrd    r4, r5, [sp, #12]
    ldrd    r6, A, [r4]
    ldrd    r7, B, [r5]
    eor     A, A, r6
    eor     B, B, r7
    product_32
    ldrd    r4, r5, [sp]
    ldr     r6, [sp, #8]
    ldrd    r7, r8, [r6, #8]
    eor     r0, r0, r4                  /* the middle: sum of the three products, at bit 32 */
    eor     r1, r1, r5
    eor     r0, r0, r7
    eor     r1, r1, r8
    eor     r5, r5, r0
    eor     r7, r7, r1
    strd    r4, r5, [r6]
    str     r7, [r6, #8]
    add     sp, #20
    pop     {pc}

/* The same for 128 bits. The frame: the middle, sums of halves, the arguments. */
    .balign 4
    .thumb_func
product_128:
    push    {r0-r2, lr}
    sub     sp, #32
    bl      product_64
    ldrd    r0, r1, [sp, #32]
    ldr     r2, [sp, #40]
    add     r0, r0, #16
    add     r1, r1, #8
    add     r2, r2, #8
    bl      product_64
    ldrd    r1, r2, [sp, #36]
    ldmia   r1, {r3-r6}
    ldmia   r2, {r7-r10}
    eor     r3, r3, r5
    eor     r4, r4, r6
    eor     r7, r7, r9
    eor     r8, r8, r10
    strd    r3, r4, [sp, #16]
    strd    r7, r8, [sp, #24]
    mov     r0, sp
    add     r1, sp, #16
    add     r2, sp, #24
    bl      product_64
    ldr     r0, [sp, #32]
    ldmia   sp, {r1-r4}
    ldmia   r0!, {r5-r8}
    ldmia   r0, {r9-r12}
    eor     r1, r1, r5
    eor     r2, r2, r6
    eor     r3, r3, r7
    eor     r4, r4, r8
    eor     r1, r1, r9
    eor     r2, r2, r10
    eor     r3, r3, r11
    eor     r4, r4, r12
    eor     r7, r7, r1
    eor     r8, r8, r2
    eor     r9, r9, r3
    eor     r10, r10, r4
    strd    r7, r8, [r0, #-8]
    strd    r9, r10, [r0]
    add     sp, #44
    pop     {pc}

/* void gf2_product_256(uint32_t out[16], const uint32_t a[8], const uint32_t b[8])

   out must not be an operand. */
    .balign 4
    .thumb_func
    .weak   gf2_product_256
    .type   gf2_product_256, %function
gf2_product_256:
    push    {r0-r2, r4-r11, lr}
    sub     sp, #64
    bl      product_128
    ldrd    r0, r1, [sp, #64]
    ldr     r2, [sp, #72]
    add     r0, r0, #32
    add     r1, r1, #16
    add     r2, r2, #16
    bl      product_128
    ldrd    r1, r2, [sp, #68]
    mov     r0, sp
    .irp    sums, 32, 48
    .if     \sums == 48
    mov     r1, r2
    .endif
    ldmia   r1, {r3-r10}
    eor     r3, r3, r7
    eor     r4, r4, r8
    eor     r5, r5, r9
    eor     r6, r6, r10
    add     r11, sp, #\sums
    stmia   r11, {r3-r6}
    .endr
    add     r1, sp, #32
    add     r2, sp, #48
    bl      product_128
    /* Add the middle's low and high halves, each with both products' halves, to the inner
       quarters. */
    ldr     r0, [sp, #64]
    add     r1, r0, #16
    ldmia   r1, {r2-r9}                 /* quarters 1 and 2 */
    ldmia   r0, {r10-r12, lr}
    eor     r10, r10, r2
    eor     r11, r11, r3
    eor     r12, r12, r4
    eor     lr, lr, r5                  /* quarters 0 and 1 */
    eor     r2, r10, r6
    eor     r3, r11, r7
    eor     r4, r12, r8
    eor     r5, lr, r9                  /* quarters 0, 1 and 2 */
    ldmia   sp, {r10-r12, lr}
    eor     r2, r2, r10
    eor     r3, r3, r11
    eor     r4, r4, r12
    eor     r5, r5, lr
    ldmia   r1, {r10-r12, lr}
    stmia   r1, {r2-r5}
    eor     r6, r6, r10
    eor     r7, r7, r11
    eor     r8, r8, r12
    eor     r9, r9, lr                  /* quarters 1 and 2 */
    add     r1, r0, #48
    ldmia   r1, {r10-r12, lr}
    eor     r6, r6, r10
    eor     r7, r7, r11
    eor     r8, r8, r12
    eor     r9, r9, lr                  /* quarters 1, 2 and 3 */
    add     r1, sp, #16
    ldmia   r1, {r10-r12, lr}
    eor     r6, r6, r10
    eor     r7, r7, r11
    eor     r8, r8, r12
    eor     r9, r9, lr
    add     r1, r0, #32
    stmia   r1, {r6-r9}
    add     sp, #76
    pop     {r4-r11, pc}
