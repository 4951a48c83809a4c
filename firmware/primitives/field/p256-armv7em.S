/* The field of P-256 for ARMv7E-M, and doubling and adding points. */
#include "field/multiply-armv7em.S"

/* A product to out, as p256-armv7m.inc has it. One chain of UMAAL by 2^32 - 1 adds M - (M >> 32): what it
   begins with is M's lowest word, less what that borrowed, and what each step carries is above it. UMAAL leaves
   the flags to the chain that adds M >> 64 beside it. */
.macro reduce
    str     r9, [sp, #HIGH]
    str     r10, [sp, #HIGH + 4]
    str     r11, [sp, #HIGH + 8]
    str     lr, [sp, #HIGH + 12]
    whole_m
    mov     r9, #-1
    umaal   r5, r12, r10, r9
    adcs    r5, r5, r11
    umaal   r6, r12, r11, r9
    adcs    r6, r6, lr
    umaal   r7, r12, lr, r9
    adcs    r7, r7, r1
    umaal   r8, r12, r1, r9
    adcs    r8, r8, r2
    ldr     r1, [sp, #HIGH]
    ldr     r10, [sp, #HIGH + 4]
    ldr     r11, [sp, #HIGH + 8]
    ldr     lr, [sp, #HIGH + 12]
    umaal   r1, r12, r2, r9
    adcs    r1, r1, r3
    umaal   r10, r12, r3, r9
    adcs    r10, r10, r4
    umaal   r11, r12, r4, r9
    adcs    r11, r11, #0
    adcs    lr, lr, r12
    sbc     r12, r12, r12               /* what is carried out, less 1 */
    rsbs    r0, r0, #0                  /* the carry again, and M >> 160 */
    adcs    r5, r5, r2
    adcs    r6, r6, r3
    adcs    r7, r7, r4
    adcs    r8, r8, #0
    adcs    r9, r1, #0
    adcs    r10, r10, #0
    adcs    r11, r11, #0
    adcs    lr, lr, #0
    adc     r12, r12, #0
    mvn     r12, r12
    subtract_p r5, r6, r7, r8, r9, r10, r11, lr, r12
    ldr     r0, [sp, #OUT]
    stmia   r0, {r5-r11, lr}
.endm

#include "field/p256-armv7m.inc"

/* A point in Jacobian coordinates, and the square and the cube of its z where it is ready to be added. */
#define PX 0
#define PY 32
#define PZ 64
#define PZZ 96
#define PZZZ 128

/* The frame: where the point goes, where it is, and what is added; then elements: of doubling, of adding. */
#define OUT_POINT 0
#define IN_POINT 4
#define TERM 8
#define DELTA 12
#define GAMMA 44
#define BETA 76
#define ALPHA 108
#define T 140
#define U 12
#define S 44
#define H 76
#define R 108
#define ELEMENTS_BYTES 160

.macro enter_point
    push    {r4-r11, lr}
    sub     sp, #ELEMENTS_BYTES
    push    {r0-r2}
.endm

.macro leave_point
    add     sp, #ELEMENTS_BYTES + 12
    pop     {r4-r11, pc}
.endm

/* An element of the frame, or of a point that the frame tells of. */
.macro element register, at, point
    .ifb    \point
    add     \register, sp, #\at
    .else
    ldr     \register, [sp, #\point]
    .if     \at
    add     \register, \register, #\at
    .endif
    .endif
.endm

.macro step function, out, a, b=0, out_point, a_point, b_point
    element r0, \out, \out_point
    element r1, \a, \a_point
    element r2, \b, \b_point
    bl      \function
.endm

/* void p256_double(uint32_t out[24], const uint32_t point[24]);  which may be one
   dbl-2001-b of Bernstein and Lange's Explicit-Formulas Database with twice its gamma, and 2 Y Z as a
   product, which costs no more than a square here: 4 M + 4 S. */
function p256_double
    enter_point
    step    inside_square, DELTA, PZ, , , IN_POINT
    step    inside_square, GAMMA, PY, , , IN_POINT
    step    inside_subtract, T, PX, DELTA, , IN_POINT
    step    inside_add, ALPHA, PX, DELTA, , IN_POINT
    step    inside_multiply, ALPHA, ALPHA, T
    step    inside_add, T, ALPHA, ALPHA
    step    inside_add, ALPHA, ALPHA, T
    step    inside_multiply, T, PY, PZ, , IN_POINT, IN_POINT
    step    inside_add, PZ, T, T, OUT_POINT
    step    inside_add, GAMMA, GAMMA, GAMMA
    step    inside_multiply, BETA, PX, GAMMA, , IN_POINT
    step    inside_add, BETA, BETA, BETA
    step    inside_square, T, ALPHA
    step    inside_subtract, T, T, BETA
    step    inside_subtract, PX, T, BETA, OUT_POINT
    step    inside_square, GAMMA, GAMMA
    step    inside_add, GAMMA, GAMMA, GAMMA
    step    inside_subtract, T, BETA, PX, , , OUT_POINT
    step    inside_multiply, T, ALPHA, T
    step    inside_subtract, PY, T, GAMMA, OUT_POINT
    leave_point

/* What both additions end with, as point_sum of curve/weierstrass.h has it, once z is there: u and s are in the
   frame or in a point. */
.macro sum_of_points u, s, point
    step    inside_square, T, H
    step    inside_multiply, U, \u, T, , \point
    step    inside_multiply, H, H, T
    step    inside_multiply, S, \s, H, , \point
    step    inside_square, T, R
    step    inside_subtract, T, T, H
    step    inside_subtract, T, T, U
    step    inside_subtract, PX, T, U, OUT_POINT
    step    inside_subtract, U, U, PX, , , OUT_POINT
    step    inside_multiply, U, U, R
    step    inside_subtract, PY, U, S, OUT_POINT
.endm

/* void p256_add_ready(uint32_t out[24], const uint32_t p[24], const uint32_t q[40]);  out may be p */
function p256_add_ready
    enter_point
    step    inside_square, T, PZ, , , IN_POINT
    step    inside_multiply, H, PX, T, , TERM
    step    inside_multiply, T, T, PZ, , , IN_POINT
    step    inside_multiply, R, PY, T, , TERM
    step    inside_multiply, U, PX, PZZ, , IN_POINT, TERM
    step    inside_multiply, S, PY, PZZZ, , IN_POINT, TERM
    step    inside_subtract, H, H, U
    step    inside_subtract, R, R, S
    step    inside_multiply, T, PZ, PZ, , IN_POINT, TERM
    step    inside_multiply, PZ, T, H, OUT_POINT
    sum_of_points U, S
    leave_point

/* void p256_add_affine(uint32_t out[24], const uint32_t p[24], const uint32_t q[16]);  out may be p */
function p256_add_affine
    enter_point
    step    inside_square, T, PZ, , , IN_POINT
    step    inside_multiply, H, PX, T, , TERM
    step    inside_multiply, T, T, PZ, , , IN_POINT
    step    inside_multiply, R, PY, T, , TERM
    step    inside_subtract, H, H, PX, , , IN_POINT
    step    inside_subtract, R, R, PY, , , IN_POINT
    step    inside_multiply, PZ, PZ, H, OUT_POINT, IN_POINT
    sum_of_points PX, PY, IN_POINT
    leave_point

    .section .text.p256_inside, "ax"    /* kept whichever of the points' functions is */
    .balign 4
#include "field/inside-armv7em.inc"
