/* The number-theoretic transform for ARMv7E-M: two coefficients a register. Include it after
   "kem/ml-kem/mlkem-arithmetic.h".

   Two or three layers at a time stay in registers. */
#ifndef MLKEM_TRANSFORM_DSP_H
#define MLKEM_TRANSFORM_DSP_H

#include "mlkem-arithmetic.h"
#include "mlkem-plantard.h"

typedef uint32_t __attribute__((may_alias)) two; /* coefficients */

/* Returns both coefficients times b mod q, between -q/2 and q/2. */
static inline two times(two a, uint32_t b) {
    two low, high;
    __asm__("smulwb %0, %2, %3\n\tsmulwt %1, %2, %3\n\tsmlabb %0, %0, %4, %5\n\t"
            "smlabb %1, %1, %4, %5\n\tpkhtb %0, %1, %0, asr #16"
            : "=&r"(low), "=&r"(high)
            : "r"(b), "r"(a), "r"(Q), "r"(8 * Q));
    return low;
}

static inline two plus(two a, two b) {
    two sum;
    __asm__("sadd16 %0, %1, %2" : "=r"(sum) : "r"(a), "r"(b));
    return sum;
}

static inline two minus(two a, two b) {
    two difference;
    __asm__("ssub16 %0, %1, %2" : "=r"(difference) : "r"(a), "r"(b));
    return difference;
}

/* Returns the lower halves of two words, or the upper ones. */
static inline two lower_halves(two a, two b) {
    two both;
    __asm__("pkhbt %0, %1, %2, lsl #16" : "=r"(both) : "r"(a), "r"(b));
    return both;
}

static inline two upper_halves(two a, two b) {
    two both;
    __asm__("pkhtb %0, %2, %1, asr #16" : "=r"(both) : "r"(a), "r"(b));
    return both;
}

/* Multiplies all coefficients by 1 / R or R. */
static void scale(int16_t *p, int16_t f) {
    for (two *end = (two *)p + 128, *w = (two *)p; w < end; w++)
        *w = times(*w, f == 1 ? BY_R : TIMES_R);
}

/* Two layers of the NTT at distances of words; inlined, so that distances are constants. */
__attribute__((always_inline)) static inline void two_layers(two *p, unsigned length) {
    const uint32_t *root = stored_roots + 32 / length;
    const uint32_t *roots = stored_roots + 64 / length;
    for (two *all = p + 128; p < all; p += 3 * length, roots += 2) {
        uint32_t w1 = *root++, w2 = roots[0], w3 = roots[1];
        for (two *end = p + length; p < end; p++) {
            two a0 = p[0], a1 = p[length];
            two t2 = times(p[2 * length], w1), t3 = times(p[3 * length], w1);
            two a2 = minus(a0, t2), a3 = minus(a1, t3);
            a0 = plus(a0, t2), a1 = plus(a1, t3);
            two t1 = times(a1, w2);
            t3 = times(a3, w3);
            p[0] = plus(a0, t1);
            p[length] = minus(a0, t1);
            p[2 * length] = plus(a2, t3);
            p[3 * length] = minus(a2, t3);
        }
    }
}

/* The butterfly of a layer (algorithm 9, lines 8 to 10), and of an inverse one. */
static inline void cross(two *a, two *b, uint32_t root) {
    two t = times(*b, root);
    *b = minus(*a, t);
    *a = plus(*a, t);
}

static inline void cross_back(two *a, two *b, uint32_t root) {
    two t = minus(*b, *a);
    *a = plus(*a, *b);
    *b = times(t, root);
}

/* NTT (FIPS 203, algorithm 9). Each layer adds at most q/2 to a coefficient: |input| < q, |output|
   < 5 q. */
CRYPTO_NOT_INLINE static void transform(int16_t *coefficients) {
    two *p = (two *)coefficients;
    two_layers(p, 32);
    two_layers(p, 8);
    for (unsigned i = 16; i < 32; i++, p += 8) {
        const uint32_t *root = stored_roots + 2 * i, *roots = stored_roots + 4 * i;
        two a0 = p[0], a1 = p[1], a2 = p[2], a3 = p[3], a4 = p[4], a5 = p[5], a6 = p[6], a7 = p[7];
        uint32_t w = stored_roots[i];
        cross(&a0, &a4, w), cross(&a1, &a5, w), cross(&a2, &a6, w), cross(&a3, &a7, w);
        w = root[0];
        cross(&a0, &a2, w), cross(&a1, &a3, w);
        w = roots[0];
        cross(&a0, &a1, w);
        p[0] = a0, p[1] = a1;
        w = roots[1];
        cross(&a2, &a3, w);
        p[2] = a2, p[3] = a3;
        w = root[1];
        cross(&a4, &a6, w), cross(&a5, &a7, w);
        w = roots[2];
        cross(&a4, &a5, w);
        p[4] = a4, p[5] = a5;
        w = roots[3];
        cross(&a6, &a7, w);
        p[6] = a6, p[7] = a7;
    }
}

/* Inverse NTT (algorithm 10) of coefficients divided by R, |input| < 2.45 q, |output| <= q/2. A sum
   doubles at most and 9.8 q fit, a product is at most q/2. Three layers: the sums of sums are
   reduced after two, and all results are at most 2 q. Two more: sums of sums, less than 8 q, are
   reduced, and all are at most q. Two more: less than 4 q. */
CRYPTO_NOT_INLINE static void transform_back(int16_t *coefficients) {
    two *p = (two *)coefficients;
    for (unsigned i = 32; i-- > 16; p += 8) {
        const uint32_t *root = stored_roots + 2 * i, *roots = stored_roots + 4 * i;
        two a0 = p[0], a1 = p[1], a2 = p[2], a3 = p[3];
        cross_back(&a0, &a1, roots[3]), cross_back(&a2, &a3, roots[2]);
        uint32_t w = root[1];
        cross_back(&a0, &a2, w), cross_back(&a1, &a3, w);
        a0 = times(a0, TIMES_1);
        two a4 = p[4], a5 = p[5], a6 = p[6], a7 = p[7];
        cross_back(&a4, &a5, roots[1]), cross_back(&a6, &a7, roots[0]);
        w = root[0];
        cross_back(&a4, &a6, w), cross_back(&a5, &a7, w);
        a4 = times(a4, TIMES_1);
        w = stored_roots[i];
        cross_back(&a0, &a4, w), cross_back(&a1, &a5, w);
        p[0] = a0, p[1] = a1, p[4] = a4, p[5] = a5;
        cross_back(&a2, &a6, w), cross_back(&a3, &a7, w);
        p[2] = a2, p[3] = a3, p[6] = a6, p[7] = a7;
    }
    p = (two *)coefficients;
    const uint32_t *root = stored_roots + 8, *roots = stored_roots + 16;
    for (two *all = p + 128; p < all; p += 24) {
        uint32_t w1 = *--roots, w2 = *--roots, w3 = *--root;
        for (two *end = p + 8; p < end; p++) {
            two a0 = p[0], a1 = p[8], a2 = p[16], a3 = p[24];
            cross_back(&a0, &a1, w1), cross_back(&a2, &a3, w2);
            cross_back(&a0, &a2, w3), cross_back(&a1, &a3, w3);
            p[0] = times(a0, TIMES_1);
            p[8] = a1, p[16] = a2, p[24] = a3;
        }
    }
    p = (two *)coefficients;
    for (two *end = p + 32; p < end; p++) {
        two a0 = p[0], a1 = p[32], a2 = p[64], a3 = p[96];
        cross_back(&a0, &a1, stored_roots[3]), cross_back(&a2, &a3, stored_roots[2]);
        p[0] = times(plus(a0, a2), TIMES_R_BY_128);
        p[32] = times(plus(a1, a3), TIMES_R_BY_128);
        p[64] = times(minus(a2, a0), TIMES_ROOT_1_R_BY_128);
        p[96] = times(minus(a3, a1), TIMES_ROOT_1_R_BY_128);
    }
}

#endif
