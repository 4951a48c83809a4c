/* Points of a curve y^2 = x^3 - 3x + b, or x^3 + b, over a prime field, in Jacobian coordinates:
   (X, Y, Z) stands for (X / Z^2, Y / Z^3). The including file has defined
   - the field: fe, an array; FE_WORDS and fe_word; fe_one; fe_multiply, fe_square, fe_add and
     fe_subtract, which take out first and allow it to be an operand; fe_is_zero, all ones or 0, for
     any element;
   - optionally fe_pick, fe_point_double, and both fe_point_add and fe_point_add_affine;
   - CURVE_A_IS_ZERO, and the order's SCALAR_BITS in SCALAR_BYTES;
   - the generator's comb[8 COMB_BLOCKS][2] with COMB_COLUMNS per block: with c = BLOCKS COLUMNS,
     entry 8 b + i is 2^(b COLUMNS) (2^(3 c) + s0 2^0 + s1 2^c + s2 2^(2 c)) G, where s is 1 for a
     bit of i that is set, else -1.

   Time and addresses do not depend on scalars. */
#ifndef CURVE_WEIERSTRASS_H
#define CURVE_WEIERSTRASS_H

#include "crypto.h"

/* Compilers unroll the comb's blocks. On an MSP430, inlined copies cost flash and, with too few
   registers, time; in GCC's code for ARMv7-M, calls cost flash instead. */
#if FE_WORD_BITS == 16
#define CURVE_CALLED CRYPTO_NOT_INLINE
#else
#define CURVE_CALLED
#endif

typedef struct {
    fe x, y, z;
} point;

typedef struct {
    fe x, y;
} affine_point;

/* A point to be added repeatedly, with the square and the cube of its z. */
typedef struct {
    point p;
    fe zz, zzz;
} ready_point;

static void fe_copy(fe out, const fe a) {
    for (unsigned i = 0; i < FE_WORDS; i++)
        out[i] = a[i];
}

/* out = a if the mask is all ones; unchanged if it is 0. */
static void words_select(fe_word *out, const fe_word *a, fe_word mask, unsigned words) {
    for (unsigned i = 0; i < words; i++)
        out[i] ^= (out[i] ^ a[i]) & mask;
}

/* Returns four bits of a scalar, starting at `bit`; those beyond its end are 0. */
static unsigned scalar_bits(const uint8_t k[SCALAR_BYTES], unsigned bit) {
    unsigned high = bit / 8 + 1 < SCALAR_BYTES ? k[bit / 8 + 1] : 0;
    return (k[bit / 8] | high << 8) >> bit % 8 & 15;
}

#define WORDS(type) ((unsigned)(sizeof(type) / sizeof(fe_word)))

/* 2 p; formulas of Bernstein and Lange's Explicit-Formulas Database. Infinity (z = 0) is
   unchanged. */
#ifdef fe_point_double
#define point_double fe_point_double
#elif CURVE_A_IS_ZERO
/* dbl-2009-l: 2 M + 5 S. */
static void point_double(point *out, const point *p) {
    fe a, b, c, d, t;
    fe_square(a, p->x);
    fe_square(b, p->y);
    fe_square(c, b);
    fe_add(t, p->x, b);
    fe_square(t, t);
    fe_subtract(t, t, a);
    fe_subtract(t, t, c);
    fe_add(d, t, t);
    fe_add(t, a, a);
    fe_add(a, a, t);
    fe_multiply(t, p->y, p->z);
    fe_add(out->z, t, t);
    fe_square(t, a);
    fe_subtract(t, t, d);
    fe_subtract(out->x, t, d);
    fe_add(c, c, c);
    fe_add(c, c, c);
    fe_add(c, c, c);
    fe_subtract(d, d, out->x);
    fe_multiply(d, a, d);
    fe_subtract(out->y, d, c);
}
#else
/* dbl-2001-b: 3 M + 5 S, with twice gamma once z has been computed. */
static void point_double(point *out, const point *p) {
    fe delta, gamma, beta, alpha, t;
    fe_square(delta, p->z);
    fe_square(gamma, p->y);
    fe_subtract(t, p->x, delta);
    fe_add(alpha, p->x, delta);
    fe_multiply(alpha, alpha, t);
    fe_add(t, alpha, alpha);
    fe_add(alpha, alpha, t);
    fe_add(t, p->y, p->z);
    fe_square(t, t);
    fe_subtract(t, t, gamma);
    fe_subtract(out->z, t, delta);
    fe_add(gamma, gamma, gamma);
    fe_multiply(beta, p->x, gamma);
    fe_add(beta, beta, beta);
    fe_square(t, alpha);
    fe_subtract(t, t, beta);
    fe_subtract(out->x, t, beta);
    fe_square(gamma, gamma);
    fe_add(gamma, gamma, gamma);
    fe_subtract(t, beta, out->x);
    fe_multiply(t, alpha, t);
    fe_subtract(out->y, t, gamma);
}
#endif

#ifdef fe_point_add
#define point_add fe_point_add
#define point_add_affine fe_point_add_affine
#else
/* The common end of both additions. In: u = X1 Z2^2, h = X2 Z1^2 - u, s = Y1 Z2^3, r = Y2 Z1^3 - s,
   z = Z1 Z2. */
static void point_sum(point *out, const fe z, const fe u, fe s, fe h, fe r) {
    fe t, v;
    fe_multiply(out->z, z, h);
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

/* p + q, where neither is infinity and they differ: 11 M + 3 S. If p = -q, z becomes 0; if p = q,
   all three coordinates do. */
static void point_add(point *out, const point *p, const ready_point *q) {
    fe u, s, h, r, t;
    fe_square(t, p->z);
    fe_multiply(h, q->p.x, t);
    fe_multiply(t, t, p->z);
    fe_multiply(r, q->p.y, t);
    fe_multiply(u, p->x, q->zz);
    fe_multiply(s, p->y, q->zzz);
    fe_subtract(h, h, u);
    fe_subtract(r, r, s);
    fe_multiply(t, p->z, q->p.z);
    point_sum(out, t, u, s, h, r);
}

/* The same for a q with z = 1: 8 M + 3 S. */
CURVE_CALLED static void point_add_affine(point *out, const point *p, const affine_point *q) {
    fe s, h, r, t;
    fe_square(t, p->z);
    fe_multiply(h, q->x, t);
    fe_multiply(t, t, p->z);
    fe_multiply(r, q->y, t);
    fe_copy(s, p->y);
    fe_subtract(h, h, p->x);
    fe_subtract(r, r, s);
    fe_copy(t, p->x);
    point_sum(out, p->z, t, s, h, r);
}
#endif

static void point_ready(ready_point *out, const point *p) {
    out->p = *p;
    fe_square(out->zz, p->z);
    fe_multiply(out->zzz, out->zz, p->z);
}

#ifndef fe_pick
/* Returns all ones if i equals wanted, else 0. */
static fe_word index_mask(unsigned i, unsigned wanted) {
    return (fe_word)~crypto_mask32(crypto_not_zero(i ^ wanted));
}

/* Copies entry `index`, below 8, of a table whose entries have `words` words. */
CURVE_CALLED static void fe_pick(fe_word *out, const fe_word *table, unsigned index,
                                 unsigned words) {
    for (unsigned n = 0; n < words; n++)
        out[n] = table[n];
    for (unsigned i = 1; i < 8; i++)
        words_select(out, table + i * words, index_mask(i, index), words);
}
#endif

/* out = sum + last, which may be equal: takes the addition's result or, for equal points, the
   double. */
static void point_finish(point *out, const point *added, const point *sum) {
    point doubled;
    point_double(&doubled, sum);
    *out = *added;
    fe_word same = fe_is_zero(added->x) & fe_is_zero(added->y) & fe_is_zero(added->z);
    words_select((fe_word *)out, (const fe_word *)&doubled, same, WORDS(point));
}

/* Signed four-bit digits, all odd: -15, -13, ..., 15 (Joye and Tunstall, "Exponent recoding and
   regular exponentiation algorithms", 2009). */
#define POINT_TABLE 8

/* Looks up table[|digit| / 2], with y negated if the digit is negative. */
static void point_look_up(ready_point *out, const ready_point table[POINT_TABLE], int digit) {
    fe_word negative = (fe_word)crypto_mask32((unsigned)digit >> (8 * sizeof digit - 1));
    unsigned index = ((unsigned)digit ^ (unsigned)(int)(int32_t)negative) >> 1 & (POINT_TABLE - 1);
    fe zero = {0}, turned;
    fe_pick((fe_word *)out, (const fe_word *)table, index, WORDS(ready_point));
    fe_subtract(turned, zero, out->p.y);
    words_select(out->p.y, turned, negative, FE_WORDS);
}

/* k p for an odd k below the order, little-endian, and p not infinity.

   Before each addition but the last, the sum so far is 16 m p with 0 < 16 m < order - 16, and the
   digit's multiple is below 16: they differ, and neither is infinity. In the last addition they may
   be equal (k = order - 2 |digit|). */
static void point_multiply(point *out, const uint8_t k[SCALAR_BYTES], const point *p) {
    ready_point table[POINT_TABLE], term;
    point sum, added;
    point_ready(&table[0], p);
    point_double(&sum, p);
    point_ready(&term, &sum);
    for (unsigned i = 1; i < POINT_TABLE; i++) {
        point_add(&sum, &table[i - 1].p, &term);
        point_ready(&table[i], &sum);
    }
    /* Digit i is 2 v - 15, where v is bits 4 i + 1 to 4 i + 4 of k; the highest one, from the
       remaining bits, is 2 v + 1. */
    unsigned i = (SCALAR_BITS - 1) / 4;
    point_look_up(&term, table, (int)(scalar_bits(k, 4 * i + 1) * 2 + 1));
    sum = added = term.p;
    while (i-- > 0) {
        for (unsigned n = 0; n < 4; n++)
            point_double(&sum, n ? &sum : &added);
        point_look_up(&term, table, (int)(scalar_bits(k, 4 * i + 1) * 2) - 15);
        point_add(&added, &sum, &term);
    }
    point_finish(out, &added, &sum);
    crypto_wipe(table, sizeof table);
    crypto_wipe(&term, sizeof term);
    crypto_wipe(&sum, sizeof sum);
    crypto_wipe(&added, sizeof added);
}

/* k times the generator for an odd k below the order: a comb of four rows whose digits are 1 and -1
   (Hedabou, Pinel, Beneteau, "Countermeasures for preventing comb method against SCA attacks on
   elliptic curve cryptosystems"), with its columns in blocks that share doublings (Lim and Lee,
   "More flexible exponentiation with precomputation", 1994). The sign of 2^i is bit i of (k - 1) /
   2 + 2^(DIGITS - 1).

   In column j, the sum so far and the term added to it, with either sign, make a sum of distinct
   powers of two, which is not 0. 2^j times it differs from k by less than 2^(j + 2) times the
   highest row's lowest power, which is below an eighth of the order. For j > 0 it is therefore
   between the negative of the order and the order, and so not a multiple of it. For j = 0 it is
   between the negative of the order and twice the order; the order is odd and the sum is even,
   except for the last one, which contains 1. So, as in point_multiply, only the last addition can
   have equal points. */
static void point_multiply_base(point *out, const uint8_t k[SCALAR_BYTES]) {
    enum { DIGITS = 4 * COMB_BLOCKS * COMB_COLUMNS };
    uint8_t bits[(DIGITS + 7) / 8];
    affine_point term;
    point sum, added;
    fe zero = {0}, turned;
    for (unsigned i = 0; i < sizeof bits; i++) {
        unsigned pair = i < SCALAR_BYTES ? k[i] : 0;
        pair |= i + 1 < SCALAR_BYTES ? (unsigned)k[i + 1] << 8 : 0;
        bits[i] = (uint8_t)(pair >> 1);
    }
    bits[(DIGITS - 1) / 8] |= (uint8_t)(1 << (DIGITS - 1) % 8);
    for (unsigned column = COMB_COLUMNS; column-- > 0;) {
        for (unsigned block = COMB_BLOCKS; block-- > 0;) {
            unsigned index = 0;
            for (unsigned row = 0; row < 4; row++) {
                unsigned bit = column + COMB_COLUMNS * (block + COMB_BLOCKS * row);
                index |= (bits[bit / 8] >> bit % 8 & 1u) << row;
            }
            fe_word minus = (fe_word)~crypto_mask32(index >> 3);
            index = (index ^ (unsigned)minus) & 7;
            fe_pick((fe_word *)&term, comb[8 * block][0], index, WORDS(affine_point));
            fe_subtract(turned, zero, term.y);
            words_select(term.y, turned, minus, FE_WORDS);
            if (column == COMB_COLUMNS - 1 && block == COMB_BLOCKS - 1) {
                fe_copy(added.x, term.x);
                fe_copy(added.y, term.y);
                fe_copy(added.z, fe_one);
                continue;
            }
            if (block == COMB_BLOCKS - 1)
                point_double(&sum, &added);
            else
                sum = added;
            point_add_affine(&added, &sum, &term);
        }
    }
    point_finish(out, &added, &sum);
    crypto_wipe(bits, sizeof bits);
    crypto_wipe(&term, sizeof term);
    crypto_wipe(&sum, sizeof sum);
    crypto_wipe(&added, sizeof added);
}

#endif
