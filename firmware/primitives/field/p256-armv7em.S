/* The field of P-256 for ARMv7E-M, and doubling a point. */
#include "field/multiply-armv7em.S"
#include "field/p256-armv7m.inc"

/* A point in Jacobian coordinates. */
#define PX 0
#define PY 32
#define PZ 64

/* The frame: where the point goes, and is; then elements. */
#define OUT_POINT 0
#define IN_POINT 4
#define DELTA 8
#define GAMMA 40
#define BETA 72
#define ALPHA 104
#define T 136
#define POINT_FRAME_BYTES 160

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
    push    {r4-r11, lr}
    sub     sp, #POINT_FRAME_BYTES
    push    {r0, r1}
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
    add     sp, #POINT_FRAME_BYTES + 8
    pop     {r4-r11, pc}

#include "field/inside-armv7em.inc"
