/* The field of 2^255 - 19 elements for ARMv7E-M. */
#include "field/multiply-armv7em.S"
#include "field/p25519-armv7m.inc"

/* What is above 2^255 of r4, the highest word, and r12 above it, times 19 to r12: 2^255 = 19. */
.macro fold_top
    lsl     r12, r12, #1
    orr     r12, r12, r4, lsr #31
    bic     r4, r4, #0x80000000
    mov     lr, #19
    mul     r12, r12, lr
.endm

/* The product as multiply256 leaves it, modulo 2^255 - 19, to out: 2^256 = 38. The highest word comes
   first, so that what it has above 2^255 joins the one chain; what is put is below 2^255 + 2^230. */
.macro reduce
    mov     r0, #38
    mov     r12, #0
    umaal   r4, r12, lr, r0
    fold_top
    ldr     lr, [sp, #LOW]
    umaal   lr, r12, r5, r0
    ldr     r5, [sp, #LOW + 4]
    umaal   r5, r12, r6, r0
    ldr     r6, [sp, #LOW + 8]
    umaal   r6, r12, r7, r0
    ldr     r7, [sp, #LOW + 12]
    umaal   r7, r12, r8, r0
    umaal   r1, r12, r9, r0
    umaal   r2, r12, r10, r0
    umaal   r3, r12, r11, r0
    ldr     r0, [sp, #OUT]
    add     r4, r4, r12
    str     lr, [r0], #4
    stmia   r0!, {r5-r7}
    stmia   r0, {r1-r4}
.endm

/* void p25519_multiply(uint32_t out[8], const uint32_t a[8], const uint32_t b[8]); */
function p25519_multiply
    multiply256
    reduce
    leave256

/* void p25519_square(uint32_t out[8], const uint32_t a[8]); */
function p25519_square
    square256
    reduce
    leave256

/* One step of RFC 7748's ladder (section 5) on what p25519-armv7em.h lays out, each operand of its
   functions at an offset. They keep no registers. */
#define PX 0
#define PZ 32
#define QX 64
#define QZ 96
#define X1 128
#define A_ 160
#define B_ 192
#define C_ 224
#define D_ 256

.macro step function, out, a, b=0
    ldr     r2, [sp]
    add     r0, r2, #\out
    add     r1, r2, #\a
    add     r2, r2, #\b
    bl      \function
.endm

/* void p25519_ladder_step(p25519_ladder *ladder, uint32_t swap); */
function p25519_ladder_step
    push    {r0, r4-r11, lr}
    mov     r2, r1
    add     r1, r0, #QX
    bl      p25519_swap
    step    inside_add, A_, PX, PZ
    step    inside_subtract, B_, PX, PZ
    step    inside_add, C_, QX, QZ
    step    inside_subtract, D_, QX, QZ
    step    inside_multiply, D_, D_, A_
    step    inside_multiply, C_, C_, B_
    step    inside_square, A_, A_
    step    inside_square, B_, B_
    step    inside_add, QX, D_, C_
    step    inside_subtract, C_, D_, C_
    step    inside_square, QX, QX
    step    inside_square, C_, C_
    step    inside_multiply, QZ, C_, X1
    step    inside_multiply, PX, A_, B_
    step    inside_subtract, B_, A_, B_
    step    inside_add_a24, C_, B_, A_
    step    inside_multiply, PZ, B_, C_
    pop     {r0, r4-r11, pc}

#include "field/inside-armv7em.inc"

/* *r0 = 121665 *r1 + *r2 */
inside_add_a24:
    push    {lr}
    mov     r10, r2
    movw    r11, #121665 & 0xffff
    movt    r11, #121665 >> 16
    ldr     r9, [r1, #28]
    ldr     r4, [r10, #28]
    ldmia   r1, {r1-r3, r5-r8}
    mov     r12, #0
    umaal   r4, r12, r9, r11
    fold_top
    ldrd    r9, lr, [r10]
    umaal   r9, r12, r1, r11
    umaal   lr, r12, r2, r11
    ldrd    r1, r2, [r10, #8]
    umaal   r1, r12, r3, r11
    umaal   r2, r12, r5, r11
    ldrd    r3, r5, [r10, #16]
    umaal   r3, r12, r6, r11
    ldr     r6, [r10, #24]
    umaal   r5, r12, r7, r11
    umaal   r6, r12, r8, r11
    add     r4, r4, r12
    strd    r9, lr, [r0]
    add     r0, r0, #8
    stmia   r0!, {r1-r3, r5, r6}
    str     r4, [r0]
    pop     {pc}
