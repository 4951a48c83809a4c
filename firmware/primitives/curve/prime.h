/* A curve over a prime field, with everything that signatures and key agreements need. The
   including file has included curve/NAME-constants.h and defined FE_WORD_BITS and ORDER_WORD_BITS.
   If the field is in assembly, it has included a header that declares it and defines fe,
   fe_multiply, fe_square, fe_add and fe_subtract; otherwise the field is computed in C here. With
   CURVE_LEAN, points are multiplied by curve/ladder.h, and inverses are powers. */
#ifndef CURVE_PRIME_H
#define CURVE_PRIME_H

#include "curve/scalar.h"

#define MODULAR(name) field_##name
#define MODULAR_BYTES FIELD_BYTES
#define MODULAR_MODULUS FIELD_MODULUS
#define MODULAR_INVERSE FIELD_INVERSE
#define MODULAR_R2 FIELD_R2
#define MODULAR_WORD_BITS FE_WORD_BITS
#ifdef fe_multiply
#define MODULAR_EXTERNAL_MULTIPLY fe_multiply
#endif
#include "field/montgomery.h"

#if FE_WORD_BITS == 32
typedef uint32_t fe_word;
#define W(x) MODULAR_WORDS_32(x)
#else
typedef uint16_t fe_word;
#define W(x) MODULAR_WORDS_16(x)
#endif

#define FE_BYTES FIELD_BYTES
#define FE_WORDS (FIELD_BYTES / sizeof(fe_word))

#ifndef fe_multiply
typedef field_fe fe;
#define fe_multiply field_multiply
#define fe_square(out, a) field_multiply(out, a, a)
#define fe_add field_add
#define fe_subtract field_subtract
#endif

static const fe fe_one = CURVE_ONE;
static const fe curve_b = CURVE_B;
/* Inlined, their variables would lie on the stack under those of a multiplication. */
#ifdef CURVE_LEAN
#define CURVE_OUT_OF_LINE CRYPTO_NOT_INLINE
#else
#define CURVE_OUT_OF_LINE
#endif

#ifdef CURVE_LEAN
static const fe generator_form[3] = CURVE_GENERATOR;
#else
static const fe comb[COMB_BLOCKS * 8][2] = CURVE_COMB;
#endif
#undef W

/* Returns all ones if a = 0, else 0; a need not be fully reduced. */
static fe_word fe_is_zero(const fe a) {
    fe t;
    fe_word any = 0;
    field_below(t, a, 0);
    for (unsigned i = 0; i < FE_WORDS; i++)
        any |= t[i];
    any |= any >> FE_WORD_BITS / 2;
    return (fe_word)~crypto_mask32(crypto_not_zero((any | any >> 8) & 0xff));
}

#ifdef CURVE_LEAN
#include "curve/ladder.h"
#else
#include "curve/weierstrass.h"
#endif

/* Reads a field element from big-endian bytes; returns 0 if they are not below the modulus. */
CURVE_OUT_OF_LINE static int fe_from_bytes(fe out, const uint8_t in[FIELD_BYTES]) {
    fe t;
    fe_word differ = 0;
    for (unsigned i = 0; i < FE_WORDS; i++) {
        t[i] = 0;
        for (unsigned n = 0; n < sizeof(fe_word); n++)
            t[i] |= (fe_word)((fe_word)in[FIELD_BYTES - 1 - i * sizeof(fe_word) - n] << 8 * n);
    }
    field_below(out, t, 0);
    for (unsigned i = 0; i < FE_WORDS; i++)
        differ |= (fe_word)(out[i] ^ t[i]);
    fe_multiply(out, out, field_r2);
    return differ == 0;
}

CURVE_OUT_OF_LINE static void fe_to_bytes(uint8_t out[FIELD_BYTES], const fe a) {
    static const fe one = {1};
    fe t;
    fe_multiply(t, a, one);
    field_below(t, t, 0);
    for (unsigned i = 0; i < FIELD_BYTES; i++)
        out[FIELD_BYTES - 1 - i] = (uint8_t)(t[i / sizeof(fe_word)] >> i % sizeof(fe_word) * 8);
}

/* x^3 + a x + b. */
static void curve_side(fe out, const fe x) {
    fe t;
    fe_square(t, x);
    fe_multiply(t, t, x);
    fe_add(t, t, curve_b);
#if !CURVE_A_IS_ZERO
    fe_subtract(t, t, x);
    fe_subtract(t, t, x);
    fe_subtract(t, t, x);
#endif
    fe_copy(out, t);
}

/* Reads a public key's point, X and Y; returns 0 if it is not on the curve. */
CURVE_OUT_OF_LINE static int point_from_bytes(point *out, const uint8_t in[2 * FIELD_BYTES]) {
    fe t, u;
    if (!fe_from_bytes(out->x, in) || !fe_from_bytes(out->y, in + FIELD_BYTES))
        return 0;
    fe_copy(out->z, fe_one);
    curve_side(t, out->x);
    fe_square(u, out->y);
    fe_subtract(t, t, u);
    return fe_is_zero(t) != 0;
}

/* a to the power of (p - 3) / 4, whose bits are the modulus's from the third on: it is 3 modulo 4.
 */
CURVE_OUT_OF_LINE __attribute__((unused)) static void fe_quarter_power(fe out, const fe a) {
    fe t;
    fe_copy(t, a);
    for (unsigned bit = 8 * FIELD_BYTES - 2; bit >= 2; bit--) {
        fe_square(t, t);
        if (field_modulus[bit / FE_WORD_BITS] >> bit % FE_WORD_BITS & 1) /* public */
            fe_multiply(t, t, a);
    }
    fe_copy(out, t);
}

/* 1 / a, or 0 if a is 0. */
static void fe_invert(fe out, const fe a) {
#ifdef CURVE_LEAN
    fe t; /* Fermat's: p - 2 is 4 (p - 3) / 4 + 1 */
    fe_quarter_power(t, a);
    fe_square(t, t);
    fe_square(t, t);
    fe_multiply(out, t, a);
#else
    field_invert(out, a);
#endif
}

/* Finds either of the two points with this x; returns 0 if there is none. The modulus is 3 modulo
   4, so a square's root is its power of (p + 1) / 4. */
CURVE_OUT_OF_LINE __attribute__((unused)) static int point_from_x(point *out,
                                                                  const uint8_t in[FIELD_BYTES]) {
    fe square, t;
    if (!fe_from_bytes(out->x, in))
        return 0;
    curve_side(square, out->x);
    fe_quarter_power(t, square);
    fe_multiply(out->y, t, square);
    fe_square(t, out->y);
    fe_subtract(t, t, square);
    fe_copy(out->z, fe_one);
    return fe_is_zero(t) != 0;
}

/* x = X / Z^2 and, if requested, y = Y / Z^3; p is not infinity. */
CURVE_OUT_OF_LINE static void point_to_bytes(uint8_t x[FIELD_BYTES], uint8_t *y, const point *p) {
    fe inverse, square, t;
    fe_invert(inverse, p->z);
    fe_square(square, inverse);
    fe_multiply(t, p->x, square);
    fe_to_bytes(x, t);
    if (y) {
        fe_multiply(square, square, inverse);
        fe_multiply(t, p->y, square);
        fe_to_bytes(y, t);
    }
}

#ifdef CURVE_LEAN
/* Depth of a multiplication's stack frames, of GCC's -O3. */
#define CURVE_FRAME_BYTES 920
#else
/* Returns k, or order - k if k is even: an odd number whose multiples have the same x as k's. The
   returned mask is all ones if y must be negated. */
static fe_word scalar_make_odd(scalar out, const scalar k) {
    static const order_fe zero;
    order_fe words, other;
    fe_word even = (fe_word)crypto_mask32(~(unsigned)k[0] & 1);
    order_from_scalar(words, k);
    order_subtract(other, zero, words);
    scalar_from_order(out, other);
    for (unsigned i = 0; i < SCALAR_BYTES; i++)
        out[i] ^= (uint8_t)((out[i] ^ k[i]) & ~even);
    return even;
}

/* k p, or k times the generator if p is null; 0 < k < order. */
static void point_times(point *out, const scalar k, const point *p) {
    scalar odd;
    fe turned;
    static const fe zero;
    fe_word negative = scalar_make_odd(odd, k);
    if (p)
        point_multiply(out, odd, p);
    else
        point_multiply_base(out, odd);
    fe_subtract(turned, zero, out->y);
    words_select(out->y, turned, negative, FE_WORDS);
    crypto_wipe(odd, sizeof odd);
}

/* Depth of a multiplication's stack frames, whatever a compiler inlines. */
#define CURVE_FRAME_BYTES (12 * sizeof(ready_point) + 16 * sizeof(fe) + 1000)
#endif

#endif
