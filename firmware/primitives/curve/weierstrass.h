/* Points of a curve y^2 = x^3 - 3x + b over a prime field, in Jacobian coordinates: (X, Y, Z) stands for
   (X / Z^2, Y / Z^3). Whoever includes this has defined the field: fe, an array; fe_multiply, fe_square,
   fe_add, fe_subtract, which take out first and allow it to be an operand; FE_WORDS and fe_word.

   What depends on a scalar takes the same time and touches the same addresses whatever the scalar is. */
#ifndef CURVE_WEIERSTRASS_H
#define CURVE_WEIERSTRASS_H

#include "crypto.h"

typedef struct {
    fe x, y, z;
} point;

/* A point that is added often: with the square and the cube of its z. */
typedef struct {
    point p;
    fe zz, zzz;
} ready_point;

static void fe_copy(fe out, const fe a) {
    for (unsigned i = 0; i < FE_WORDS; i++)
        out[i] = a[i];
}

/* out = a where the mask is all ones, out where it is 0. */
static void words_select(fe_word *out, const fe_word *a, fe_word mask, unsigned words) {
    for (unsigned i = 0; i < words; i++)
        out[i] ^= (out[i] ^ a[i]) & mask;
}

#define WORDS(type) ((unsigned)(sizeof(type) / sizeof(fe_word)))

/* 2 p; formulas dbl-2001-b (Bernstein, Lange, Explicit-Formulas Database): 3 M + 5 S. Infinity (z = 0) stays
   what it is. */
static void point_double(point *out, const point *p) {
    fe delta, gamma, beta, alpha, t;
    fe_square(delta, p->z);
    fe_square(gamma, p->y);
    fe_multiply(beta, p->x, gamma);
    fe_subtract(t, p->x, delta);
    fe_add(alpha, p->x, delta);
    fe_multiply(alpha, alpha, t);
    fe_add(t, alpha, alpha);
    fe_add(alpha, alpha, t);
    fe_add(t, p->y, p->z);
    fe_square(t, t);
    fe_subtract(t, t, gamma);
    fe_subtract(out->z, t, delta);
    fe_add(beta, beta, beta);
    fe_add(beta, beta, beta);
    fe_square(t, alpha);
    fe_subtract(t, t, beta);
    fe_subtract(out->x, t, beta);
    fe_square(gamma, gamma);
    fe_add(gamma, gamma, gamma);
    fe_add(gamma, gamma, gamma);
    fe_add(gamma, gamma, gamma);
    fe_subtract(t, beta, out->x);
    fe_multiply(t, alpha, t);
    fe_subtract(out->y, t, gamma);
}

/* p + q, where neither is infinity and they differ: 11 M + 3 S. Where p = -q, z becomes 0; where p = q, all
   three do. */
static void point_add(point *out, const point *p, const ready_point *q) {
    fe u, s, h, r, t, v;
    fe_square(t, p->z);
    fe_multiply(h, q->p.x, t);
    fe_multiply(t, t, p->z);
    fe_multiply(r, q->p.y, t);
    fe_multiply(u, p->x, q->zz);
    fe_multiply(s, p->y, q->zzz);
    fe_subtract(h, h, u);
    fe_subtract(r, r, s);
    fe_multiply(t, p->z, q->p.z);
    fe_multiply(out->z, t, h);
    fe_square(t, h);
    fe_multiply(v, u, t);
    fe_multiply(h, h, t);
    fe_square(t, r);
    fe_subtract(t, t, h);
    fe_subtract(t, t, v);
    fe_subtract(out->x, t, v);
    fe_subtract(v, v, out->x);
    fe_multiply(v, v, r);
    fe_multiply(s, s, h);
    fe_subtract(out->y, v, s);
}

static void point_ready(ready_point *out, const point *p) {
    out->p = *p;
    fe_square(out->zz, p->z);
    fe_multiply(out->zzz, out->zz, p->z);
}

/* Signed digits of four bits, all of them odd: -15, -13, ..., 15 (Joye and Tunstall, "Exponent recoding and
   regular exponentiation algorithms", 2009). */
#define POINT_DIGITS (2 * FE_BYTES)
#define POINT_TABLE 8

/* table[|digit| / 2], its y turned where the digit is negative. */
static void point_look_up(ready_point *out, const ready_point table[POINT_TABLE], int digit) {
    fe_word negative = (fe_word)crypto_mask32((unsigned)digit >> (8 * sizeof digit - 1));
    unsigned index = ((unsigned)digit ^ (unsigned)(int)(int32_t)negative) >> 1 & (POINT_TABLE - 1);
    fe zero = {0}, turned;
    *out = table[0];
    for (unsigned i = 1; i < POINT_TABLE; i++) {
        unsigned differs = i ^ index;
        fe_word mask = (fe_word)~crypto_mask32((0u - differs) >> (8 * sizeof differs - 1));
        words_select((fe_word *)out, (const fe_word *)&table[i], mask, WORDS(ready_point));
    }
    fe_subtract(turned, zero, out->p.y);
    words_select(out->p.y, turned, negative, FE_WORDS);
}

/* k p for an odd k below the order, little endian, and p not infinity.

   Before each addition but the last, the sum so far is 16 m p with 0 < 16 m < order - 16 and the digit's
   multiple below 16: they differ, and neither is infinity. The last may meet its equal (k = order - 2 |digit|),
   so its double is computed too. */
static void point_multiply(point *out, const uint8_t k[FE_BYTES], const point *p) {
    ready_point table[POINT_TABLE], term;
    point twice, sum, doubled;
    ready_point two;
    point_ready(&table[0], p);
    point_double(&twice, p);
    point_ready(&two, &twice);
    for (unsigned i = 1; i < POINT_TABLE; i++) {
        point_add(&sum, &table[i - 1].p, &two);
        point_ready(&table[i], &sum);
    }
    point_look_up(&term, table, (k[FE_BYTES - 1] >> 5) * 2 + 1);
    sum = term.p;
    for (int i = POINT_DIGITS - 2; i >= 0; i--) {
        unsigned bit = 4u * (unsigned)i + 1;
        unsigned pair = k[bit / 8] | (unsigned)(bit / 8 + 1 < FE_BYTES ? k[bit / 8 + 1] : 0) << 8;
        for (unsigned n = 0; n < 4; n++)
            point_double(&sum, &sum);
        point_look_up(&term, table, (int)(pair >> bit % 8 & 15) * 2 - 15);
        if (i > 0)
            point_add(&sum, &sum, &term);
    }
    point_double(&doubled, &sum);
    point_add(&twice, &sum, &term);
    fe_word same = fe_is_zero(twice.x) & fe_is_zero(twice.y) & fe_is_zero(twice.z);
    words_select((fe_word *)&twice, (const fe_word *)&doubled, same, WORDS(point));
    *out = twice;
    crypto_wipe(table, sizeof table);
    crypto_wipe(&term, sizeof term);
}

#endif
