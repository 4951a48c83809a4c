/* The number-theoretic transform for cores that multiply 32 bits by 32 to 32 in one cycle. Include
   it after "kem/ml-kem/mlkem-arithmetic.h".

   Two layers at a time stay in registers. */
#ifndef MLKEM_TRANSFORM_32_H
#define MLKEM_TRANSFORM_32_H

#include "mlkem-arithmetic.h"
#include "mlkem-plantard.h"

/* Returns a b mod q between -q/2 and q/2. */
static inline int32_t times(int32_t a, uint32_t b) {
    int32_t t = (int32_t)((uint32_t)a * b) >> 16;
    return (t + 8) * Q >> 16;
}

static void scale_by(int16_t *p, uint32_t f) {
    for (unsigned i = 0; i < 256; i++)
        p[i] = (int16_t)times(p[i], f);
}

/* Multiplies all coefficients by 1 / R or R. */
static void scale(int16_t *p, int16_t f) {
    scale_by(p, f == 1 ? BY_R : TIMES_R);
}

/* Two layers of the NTT; inlined, so that distances are constants. */
__attribute__((always_inline)) static inline void two_layers(int16_t *p, unsigned length) {
    const uint32_t *root = stored_roots + 64 / length;
    const uint32_t *roots = stored_roots + 128 / length;
    for (int16_t *all = p + 256; p < all; p += 3 * length, roots += 2) {
        uint32_t w1 = *root++, w2 = roots[0], w3 = roots[1];
        for (int16_t *end = p + length; p < end; p++) {
            int32_t a0 = p[0], a1 = p[length];
            int32_t t2 = times(p[2 * length], w1), t3 = times(p[3 * length], w1);
            int32_t a2 = a0 - t2, a3 = a1 - t3;
            a0 += t2, a1 += t3;
            int32_t t1 = times(a1, w2);
            t3 = times(a3, w3);
            p[0] = (int16_t)(a0 + t1);
            p[length] = (int16_t)(a0 - t1);
            p[2 * length] = (int16_t)(a2 + t3);
            p[3 * length] = (int16_t)(a2 - t3);
        }
    }
}

/* NTT (FIPS 203, algorithm 9). Each layer adds at most q/2 to a coefficient: |input| < q, |output|
   < 5 q. */
static void transform(int16_t *p) {
    two_layers(p, 64);
    two_layers(p, 16);
    two_layers(p, 4);
    for (unsigned i = 64; i < 128; i++, p += 4) {
        int32_t a0 = p[0], a1 = p[1];
        int32_t t0 = times(p[2], stored_roots[i]), t1 = times(p[3], stored_roots[i]);
        p[0] = (int16_t)(a0 + t0), p[1] = (int16_t)(a1 + t1);
        p[2] = (int16_t)(a0 - t0), p[3] = (int16_t)(a1 - t1);
    }
}

/* Two layers of the inverse NTT; inlined as above. Sums of sums are reduced if reduce is not 0. */
__attribute__((always_inline)) static inline void two_layers_back(int16_t *p, unsigned length,
                                                                  int reduce) {
    const uint32_t *root = stored_roots + 128 / length, *roots = stored_roots + 256 / length;
    for (int16_t *all = p + 256; p < all; p += 3 * length) {
        uint32_t w1 = *--roots, w2 = *--roots, w3 = *--root;
        for (int16_t *end = p + length; p < end; p++) {
            int32_t a0 = p[0], a1 = p[length], a2 = p[2 * length], a3 = p[3 * length];
            int32_t s0 = a0 + a1, s2 = a2 + a3;
            int32_t d1 = times(a1 - a0, w1), d3 = times(a3 - a2, w2);
            p[0] = (int16_t)(reduce ? times(s0 + s2, TIMES_1) : s0 + s2);
            p[length] = (int16_t)(d1 + d3);
            p[2 * length] = (int16_t)times(s2 - s0, w3);
            p[3 * length] = (int16_t)times(d3 - d1, w3);
        }
    }
}

/* Inverse NTT (algorithm 10) of coefficients divided by R, |input| < 5 q / 2, |output| <= q / 2. A
   sum doubles at most, other results are products: two layers give less than 2^15 from the input;
   two more, with the sums of sums reduced, at most q; and two more 4 q. */
static void transform_back(int16_t *p) {
    two_layers_back(p, 2, 0);
    two_layers_back(p, 8, 1);
    two_layers_back(p, 32, 0);
    for (int16_t *end = p + 128; p < end; p++) {
        int32_t low = p[0], high = p[128];
        p[0] = (int16_t)times(low + high, TIMES_R_BY_128);
        p[128] = (int16_t)times(high - low, TIMES_ROOT_1_R_BY_128);
    }
}

#endif
