/* sect233r1, y^2 + xy = x^3 + x^2 + b, with everything that signatures and key agreements need. The
   including file has included curve/sect233r1-constants.h and defined ORDER_WORD_BITS. */
#ifndef CURVE_BINARY_H
#define CURVE_BINARY_H

#include "curve/scalar.h"
#include "field/gf2-233.h"

typedef struct {
    fe x, y;
} point;

static const fe curve_b = CURVE_B;
static const point curve_generator = CURVE_GENERATOR;
#undef W

/* Reads a point of the generator's subgroup from X and Y; returns 0 if it is not one. The
   subgroup's points are doubles, and these are the points whose x has the same trace as the curve's
   a, 1 (Knudsen, "Elliptic scalar multiplication using point halving", 1999); the trace of x is bit
   0 + bit 159. */
static int point_from_bytes(point *out, const uint8_t in[2 * FIELD_BYTES]) {
    fe t, u;
    if (!fe_from_bytes(out->x, in) || !fe_from_bytes(out->y, in + FIELD_BYTES))
        return 0;
    fe_square(t, out->x);
    fe_multiply(u, t, out->x);
    fe_add(u, u, t);
    fe_add(u, u, curve_b);
    fe_add(t, out->x, out->y);
    fe_multiply(t, t, out->y);
    fe_add(u, u, t);
    fe_word trace = out->x[0] ^ out->x[159 / FE_WORD_BITS] >> (FE_WORD_BITS - 1);
    return (fe_is_zero(u) & trace & 1) != 0;
}

static void point_to_bytes(uint8_t x[FIELD_BYTES], uint8_t *y, const point *p) {
    fe_to_bytes(x, p->x);
    if (y)
        fe_to_bytes(y, p->y);
}

/* k p, or k times the generator if p is null; 0 < k < order. Lopez and Dahab's ladder ("Fast
   multiplication on elliptic curves over GF(2^m) without precomputation", 1999): x1 / z1 and x2 /
   z2 are the x of m p and (m + 1) p, where m is the part of k processed so far; infinity has z = 0,
   here as 1 / 0. */
static void point_times(point *out, const scalar k, const point *p) {
    fe x1 = {1}, z1 = {0}, x2, z2 = {1}, x, y, t, u;
    fe_word swapped = 0;
    fe_copy(x, p ? p->x : curve_generator.x);
    fe_copy(y, p ? p->y : curve_generator.y);
    fe_copy(x2, x);
    for (unsigned bit = SCALAR_BITS; bit-- > 0;) {
        fe_word one = (fe_word)crypto_mask32(k[bit / 8] >> bit % 8 & 1u);
        fe_swap(x1, x2, one ^ swapped);
        fe_swap(z1, z2, one ^ swapped);
        swapped = one;
        fe_multiply(t, x1, z2);
        fe_multiply(u, x2, z1);
        fe_add(z2, t, u);
        fe_square(z2, z2);
        fe_multiply(t, t, u);
        fe_multiply(x2, x, z2);
        fe_add(x2, x2, t);
        fe_square(x1, x1);
        fe_square(z1, z1);
        fe_multiply(t, x1, z1);
        fe_square(z1, z1);
        fe_multiply(u, curve_b, z1);
        fe_square(x1, x1);
        fe_add(x1, x1, u);
        fe_copy(z1, t);
    }
    fe_swap(x1, x2, swapped);
    fe_swap(z1, z2, swapped);
    /* y = (x + x1/z1) ((x1 + x z1) (x2 + x z2) + (x^2 + y) z1 z2) / (x z1 z2) + y. If z2 = 0, k p
       is the negative of p, whose y is x + y. */
    fe_word last = fe_is_zero(z2);
    fe_multiply(t, x, z1);
    fe_add(u, x1, t);
    fe_multiply(t, x, z2);
    fe_add(x2, x2, t);
    fe_multiply(u, u, x2);
    fe_multiply(z2, z2, z1);
    fe_square(t, x);
    fe_add(t, t, y);
    fe_multiply(t, t, z2);
    fe_add(u, u, t);
    fe_multiply(t, x, z2);
    fe_invert(t, t);
    fe_multiply(u, u, t);
    fe_invert(t, z1);
    fe_multiply(out->x, x1, t);
    fe_add(t, x, out->x);
    fe_multiply(u, u, t);
    for (unsigned i = 0; i < FE_WORDS; i++)
        u[i] ^= x[i] & last;
    fe_add(out->y, u, y);
    crypto_wipe(x1, sizeof x1);
    crypto_wipe(z1, sizeof z1);
    crypto_wipe(x2, sizeof x2);
    crypto_wipe(z2, sizeof z2);
    crypto_wipe(t, sizeof t);
    crypto_wipe(u, sizeof u);
}

/* x of u G + v q, where G is the generator; returns 0 if the sum is infinity. For public numbers: u
   may be 0, and equal points are doubled. */
__attribute__((unused)) static int point_sum_x(uint8_t x[FIELD_BYTES], const scalar u,
                                               const scalar v, const point *q) {
    point one, other;
    fe slope, t;
    uint8_t any = 0;
    for (unsigned i = 0; i < SCALAR_BYTES; i++)
        any |= u[i];
    point_times(&other, v, q);
    if (!any) {
        fe_to_bytes(x, other.x);
        return 1;
    }
    point_times(&one, u, NULL);
    fe_add(t, one.x, other.x);
    if (fe_is_zero(t)) {
        fe_add(slope, one.y, other.y);
        if (!fe_is_zero(slope))
            return 0;
        fe_invert(slope, one.x);
        fe_multiply(slope, slope, one.y);
        fe_add(slope, slope, one.x);
    } else {
        fe_invert(slope, t);
        fe_add(t, one.y, other.y);
        fe_multiply(slope, slope, t);
    }
    fe_square(t, slope);
    fe_add(t, t, slope);
    fe_add(t, t, one.x);
    fe_add(t, t, other.x);
    t[0] ^= 1;
    fe_to_bytes(x, t);
    return 1;
}

/* Depth of a multiplication's stack frames. */
#define CURVE_FRAME_BYTES (16 * sizeof(fe) + 1000)

#endif
