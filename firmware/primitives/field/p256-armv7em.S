/* The field of P-256 for ARMv7E-M, with doubling and addition of points. */
#include "field/multiply-armv7em.S"
#include "field/p256-armv7m.inc"
#include "field/inversion-armv7em.inc"

/* Working space of the inner functions, on their caller's stack: a product's words, the return
   address, a. They preserve no registers and return an element in E0 to E7, where the functions
   that modify one expect it. */
#define UPPER HIGH + 16
#define RETURN 48
#define INSIDE_BYTES 56

#define E0 r5
#define E1 r6
#define E2 r7
#define E3 r8
#define E4 r11
#define E5 r3
#define E6 r1
#define E7 r2

/* Reduces a product as product256 leaves it, to E0 to E7, as in p256-armv7m.inc. One chain of UMAAL
   by 2^32 - 1 adds M - (M >> 32): it starts with M's lowest word, less its borrow, and each step's
   carry is added above. UMAAL preserves the flags for the chain that adds M >> 64's lowest words; a
   chain of UMAAL by 1 adds M >> 160, then the others. */
.macro reduce
    ldr     r1, [sp, #HIGH]
    ldr     r2, [sp, #HIGH + 4]
    ldr     r3, [sp, #HIGH + 8]
    str     r9, [sp, #UPPER]
    str     r10, [sp, #UPPER + 4]
    str     r11, [sp, #UPPER + 8]
    str     lr, [sp, #UPPER + 12]
    whole_m
    mov     r9, #-1
    add     r0, r0, #1                  /* the carry of the first sums */
    umaal   r5, r12, r10, r9
    adcs    r5, r5, r11
    mov     r10, #1
    umaal   r5, r0, r2, r10
    umaal   r6, r12, r11, r9
    adcs    r6, r6, lr
    umaal   r6, r0, r3, r10
    umaal   r7, r12, lr, r9
    adcs    r7, r7, r1
    ldr     r11, [sp, #UPPER]
    ldr     lr, [sp, #UPPER + 4]
    umaal   r7, r0, r4, r10
    adc     r0, r0, #0
    umaal   r8, r12, r1, r9
    umaal   r8, r0, r2, r10
    umaal   r11, r12, r2, r9
    ldr     r1, [sp, #UPPER + 8]
    ldr     r2, [sp, #UPPER + 12]
    umaal   r11, r0, r3, r10
    umaal   lr, r12, r3, r9
    umaal   lr, r0, r4, r10
    umaal   r1, r12, r4, r9
    adds    r1, r1, r0
    adcs    r2, r2, r12
    sbc     r12, r12, r12
    mvn     r12, r12                    /* all ones if there is a carry out: subtract p */
    subs    E0, r5, r12
    sbcs    E1, r6, r12
    sbcs    E2, r7, r12
    sbcs    E3, r8, #0
    sbcs    E4, r11, #0
    sbcs    E5, lr, #0
    sbcs    E6, r1, r12, lsr #31
    sbc     E7, r2, r12
.endm

/* Loads or stores an element at a register's address. */
.macro get_at register, at
    ldr     E0, [\register, #\at]
    ldr     E1, [\register, #\at + 4]
    ldr     E2, [\register, #\at + 8]
    ldr     E3, [\register, #\at + 12]
    ldr     E4, [\register, #\at + 16]
    ldr     E5, [\register, #\at + 20]
    ldr     E6, [\register, #\at + 24]
    ldr     E7, [\register, #\at + 28]
.endm

.macro put_at register, at
    str     E0, [\register, #\at]
    str     E1, [\register, #\at + 4]
    str     E2, [\register, #\at + 8]
    str     E3, [\register, #\at + 12]
    str     E4, [\register, #\at + 16]
    str     E5, [\register, #\at + 20]
    str     E6, [\register, #\at + 24]
    str     E7, [\register, #\at + 28]
.endm

.macro public
    push    {r0, r4-r11, lr}
    sub     sp, #INSIDE_BYTES
.endm

.macro leave_public
    add     sp, #INSIDE_BYTES
    pop     {r4}
    put_at  r4, 0
    pop     {r4-r11, pc}
.endm

/* void p256_multiply(uint32_t out[8], const uint32_t a[8], const uint32_t b[8]); */
function p256_multiply
    public
    bl      inside_multiply
    leave_public

/* void p256_square(uint32_t out[8], const uint32_t a[8]); */
function p256_square
    public
    bl      inside_square
    leave_public

/* A point in Jacobian coordinates and, for a point ready to be added, the square and the cube of
   its z. */
#define PX 0
#define PY 32
#define PZ 64
#define PZZ 96
#define PZZZ 128

/* The frame: addresses of the result, of the point, and of the point to add; then elements for
   doubling and for adding. */
#define OUT_POINT 56
#define IN_POINT 60
#define TERM 64
#define DELTA 68
#define GAMMA 68
#define BETA 100
#define ALPHA 132
#define T 164
#define U 68
#define S 100
#define H 132
#define R 196
#define POINT_BYTES 228

.macro enter_point
    push    {r4-r11, lr}
    sub     sp, #POINT_BYTES
    str     r0, [sp, #OUT_POINT]
    str     r1, [sp, #IN_POINT]
    str     r2, [sp, #TERM]
.endm

.macro leave_point
    add     sp, #POINT_BYTES
    pop     {r4-r11, pc}
.endm

/* The address of an element in the frame, or of a point given in the frame. */
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

.macro put at, point
    .ifb    \point
    put_at  sp, \at
    .else
    ldr     r4, [sp, #\point]
    put_at  r4, \at
    .endif
.endm

.macro product a, b, a_point, b_point
    element r1, \a, \a_point
    element r2, \b, \b_point
    bl      inside_multiply
.endm

.macro squared a, point
    element r1, \a, \point
    bl      inside_square
.endm

.macro change function, by, point
    element r4, \by, \point
    bl      \function
.endm

/* void p256_double(uint32_t out[24], const uint32_t point[24])

   out may be point. dbl-2001-b of Bernstein and Lange's Explicit-Formulas Database with half its z,
   which removes all but one of its small multiples, and Y Z as a product: 4 M + 4 S. */
function p256_double
    enter_point
    squared PZ, IN_POINT
    put     DELTA
    change  inside_subtract_from, PX, IN_POINT
    put     T
    get_at  sp, DELTA
    change  inside_add, PX, IN_POINT
    put     ALPHA
    product ALPHA, T
    /* 3/2 of it: first 3 E, in E and r0, from which n p is subtracted as in sums, n from 0 to 3. */
    mov     r0, #0
    mov     r4, #2
    .irp    w, E0, E1, E2, E3, E4, E5, E6, E7
    umaal   \w, r0, \w, r4
    .endr
    adds    r10, E7, r0
    adc     r10, r0, #0
    rsb     r9, r10, #0
    add     r12, r10, r9, asr #31
    subs    E0, E0, r9
    sbcs    E1, E1, r9, asr #31
    sbcs    E2, E2, r9, asr #31
    sbcs    E3, E3, r12
    sbcs    E4, E4, #0
    sbcs    E5, E5, #0
    sbcs    E6, E6, r10
    sbc     E7, E7, r9
    and     r9, E0, #1                  /* add p if it is odd */
    rsb     r9, r9, #0
    adds    E0, E0, r9
    adcs    E1, E1, r9
    adcs    E2, E2, r9
    adcs    E3, E3, #0
    adcs    E4, E4, #0
    adcs    E5, E5, #0
    adcs    E6, E6, r9, lsr #31
    adcs    E7, E7, r9
    .irp    w, E7, E6, E5, E4, E3, E2, E1
    rrxs    \w, \w
    .endr
    rrx     E0, E0
    put     ALPHA
    squared PY, IN_POINT
    put     GAMMA
    product PY, PZ, IN_POINT, IN_POINT
    put     PZ, OUT_POINT
    product PX, GAMMA, IN_POINT
    put     BETA
    squared GAMMA
    put     GAMMA
    squared ALPHA
    change  inside_subtract, BETA
    change  inside_subtract, BETA
    put     PX, OUT_POINT
    change  inside_subtract_from, BETA
    put     T
    product ALPHA, T
    change  inside_subtract, GAMMA
    put     PY, OUT_POINT
    leave_point

/* The common end of both additions, as point_sum of curve/weierstrass.h, once z is computed: u and
   s are in the frame or in a point. */
.macro sum_of_points u, s, point
    squared H
    put     T
    product \u, T, \point
    put     U
    product H, T
    put     H
    product \s, H, \point
    put     S
    squared R
    change  inside_subtract, H
    change  inside_subtract, U
    change  inside_subtract, U
    put     PX, OUT_POINT
    change  inside_subtract_from, U
    put     U
    product U, R
    change  inside_subtract, S
    put     PY, OUT_POINT
.endm

/* void p256_add_ready(uint32_t out[24], const uint32_t p[24], const uint32_t q[40])

   out may be p. */
function p256_add_ready
    enter_point
    product PX, PZZ, IN_POINT, TERM
    put     U
    product PY, PZZZ, IN_POINT, TERM
    put     S
    squared PZ, IN_POINT
    put     T
    product PX, T, TERM
    change  inside_subtract, U
    put     H
    product T, PZ, , IN_POINT
    put     T
    product PY, T, TERM
    change  inside_subtract, S
    put     R
    product PZ, PZ, IN_POINT, TERM
    put     T
    product T, H
    put     PZ, OUT_POINT
    sum_of_points U, S
    leave_point

/* void p256_add_affine(uint32_t out[24], const uint32_t p[24], const uint32_t q[16])

   out may be p. */
function p256_add_affine
    enter_point
    squared PZ, IN_POINT
    put     T
    product PX, T, TERM
    change  inside_subtract, PX, IN_POINT
    put     H
    product T, PZ, , IN_POINT
    put     T
    product PY, T, TERM
    change  inside_subtract, PY, IN_POINT
    put     R
    product PZ, H, IN_POINT
    put     PZ, OUT_POINT
    sum_of_points PX, PY, IN_POINT
    leave_point

    .section .text.p256_inside, "ax"    /* kept whichever of the functions above are linked */
    .balign 4

/* E = *r1 *r2 */
    .thumb_func
inside_multiply:
    str     lr, [sp, #RETURN]
    str     r1, [sp, #A]
    product256
    reduce
    ldr     pc, [sp, #RETURN]

/* E = *r1 squared */
    .thumb_func
inside_square:
    str     lr, [sp, #RETURN]
    product256_square
    reduce
    ldr     pc, [sp, #RETURN]

/* E = E + *r4, less n p as in add_and_put. */
    .thumb_func
inside_add:
    ldm     r4!, {r0, r9, r10, r12}
    adds    E0, E0, r0
    adcs    E1, E1, r9
    adcs    E2, E2, r10
    adcs    E3, E3, r12
    ldm     r4, {r0, r9, r10, r12}
    adcs    E4, E4, r0
    adcs    E5, E5, r9
    adcs    E6, E6, r10
    adcs    E7, E7, r12
    mov     r0, #0
    adc     r0, r0, #0
    adds    r10, E7, r0
    adc     r10, r0, #0
    rsb     r9, r10, #0
    subs    E0, E0, r9
    sbcs    E1, E1, r9, asr #31
    sbcs    E2, E2, r9, asr #31
    sbcs    E3, E3, r10, lsr #1
    sbcs    E4, E4, #0
    sbcs    E5, E5, #0
    sbcs    E6, E6, r10
    sbc     E7, E7, r9
    bx      lr

/* Adds n p, as in subtract_and_put. */
.macro borrowed
    sbc     r9, r9, r9
    rsb     r10, r9, #0
    subs    r0, E7, r10
    sbc     r9, r9, #0
    rsb     r10, r9, #0
    adds    E0, E0, r9
    adcs    E1, E1, r9, asr #31
    adcs    E2, E2, r9, asr #31
    adcs    E3, E3, r10, lsr #1
    adcs    E4, E4, #0
    adcs    E5, E5, #0
    adcs    E6, E6, r10
    adc     E7, E7, r9
    bx      lr
.endm

/* E = E - *r4 */
    .thumb_func
inside_subtract:
    ldm     r4!, {r0, r9, r10, r12}
    subs    E0, E0, r0
    sbcs    E1, E1, r9
    sbcs    E2, E2, r10
    sbcs    E3, E3, r12
    ldm     r4, {r0, r9, r10, r12}
    sbcs    E4, E4, r0
    sbcs    E5, E5, r9
    sbcs    E6, E6, r10
    sbcs    E7, E7, r12
    borrowed

/* E = *r4 - E */
    .thumb_func
inside_subtract_from:
    ldm     r4!, {r0, r9, r10, r12}
    subs    E0, r0, E0
    sbcs    E1, r9, E1
    sbcs    E2, r10, E2
    sbcs    E3, r12, E3
    ldm     r4, {r0, r9, r10, r12}
    sbcs    E4, r0, E4
    sbcs    E5, r9, E5
    sbcs    E6, r10, E6
    sbcs    E7, r12, E7
    borrowed
