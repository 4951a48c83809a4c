/* The number-theoretic transform modulo q = 8380417, two layers at a time. Include it after
   "signature/ml-dsa/mldsa-montgomery.h" or "signature/ml-dsa/mldsa-barrett.h", whose products are
   less than q or 0.7 q; the latter bound what is multiplied by 2 q. */
#ifndef MLDSA_TRANSFORM_H
#define MLDSA_TRANSFORM_H

/* Returns what is congruent to a, |result| < 0.51 q where |a| < 10 q, < 0.65 q where |a| < 150 q:
   2^23 = 2^13 - 1. */
static inline int32_t centered(int32_t a) {
#ifdef MLDSA_OWN_PRODUCTS
    return kept_small(a);
#else
    return a - ((a + ((int32_t)1 << 22)) >> 23) * Q;
#endif
}

/* Returns all ones if a < 0, else 0; compilers must see neither the bounds of a nor that the result
   is one of the two. */
static inline int32_t sign_of(int32_t a) {
#ifdef __MSP430__
    unsigned high = (unsigned)((uint32_t)a >> 16);
    __asm__("" : "+r"(high));
    return (int32_t)crypto_mask32(high >> 15);
#else
    __asm__("" : "+r"(a));
    int32_t sign = a >> 31;
    __asm__("" : "+r"(sign));
    return sign;
#endif
}

/* Returns what is congruent to a, from 0 to q - 1. */
static inline int32_t canonical(int32_t a) {
    a = centered(a);
    return a + (Q & sign_of(a));
}

/* Two layers of the NTT; inlined, so that distances are constants. Of products of less than 0.7 q
   and sums with two of them, all stay below 2 q. */
__attribute__((always_inline)) static inline void two_layers(int32_t *p, unsigned length) {
    unsigned first = 64 / length, second = 128 / length;
    for (int32_t *all = p + 256; p < all; p += 3 * length, first++, second += 2) {
        root w1 = root_of(first), w2 = root_of(second), w3 = root_of(second + 1);
        for (int32_t *end = p + length; p < end; p++) {
            int32_t a0 = kept_small(p[0]), a1 = kept_small(p[length]);
            int32_t t2 = times_root(p[2 * length], w1), t3 = times_root(p[3 * length], w1);
            int32_t a2 = a0 - t2, a3 = a1 - t3;
            a0 += t2, a1 += t3;
            int32_t t1 = times_root(a1, w2);
            t3 = times_root(a3, w3);
            p[0] = a0 + t1;
            p[length] = a0 - t1;
            p[2 * length] = a2 + t3;
            p[3 * length] = a2 - t3;
        }
    }
}

/* NTT (FIPS 204, algorithm 41). |input| < q, |output| < 0.51 q, or 9 q by Montgomery's products,
   which allow for that. */
CRYPTO_NOT_INLINE static void transform(int32_t *p) {
    two_layers(p, 64);
    two_layers(p, 16);
    two_layers(p, 4);
    two_layers(p, 1);
    if (TRANSFORM_REDUCES)
        for (unsigned i = 0; i < 256; i++)
            p[i] = centered(p[i]);
}

/* Two layers of the inverse NTT; inlined as above. |input|, |output| < 0.7 q or, where kept_small
   does nothing, output of up to four times the input: from 9 q to 36 q, by the second pair of
   layers to less than 2 q since it reduces, to 16 q at the end. */
__attribute__((always_inline)) static inline void two_layers_back(int32_t *p, unsigned length) {
    unsigned first = 256 / length, second = 128 / length;
    for (int32_t *all = p + 256; p < all; p += 3 * length) {
        root w1 = root_of(--first), w2 = root_of(--first), w3 = root_of(--second);
        for (int32_t *end = p + length; p < end; p++) {
            int32_t a0 = p[0], a1 = p[length], a2 = p[2 * length], a3 = p[3 * length];
            int32_t s0 = a0 + a1, s2 = a2 + a3;
            int32_t d1 = times_root(a1 - a0, w1), d3 = times_root(a3 - a2, w2);
            if (length < 64) {
                p[0] = length == 4 && !TRANSFORM_REDUCES ? centered(s0 + s2) : kept_small(s0 + s2);
                p[length] = kept_small(d1 + d3);
                p[2 * length] = times_root(kept_small(s2 - s0), w3);
                p[3 * length] = times_root(d3 - d1, w3);
            } else {
                p[0] = times_root(kept_small(s0 + s2), LAST_FACTOR);
                p[length] = times_root(d1 + d3, LAST_FACTOR);
                p[2 * length] = times_root(kept_small(s2 - s0), LAST_ROOT);
                p[3 * length] = times_root(d3 - d1, LAST_ROOT);
            }
        }
    }
}

/* Inverse NTT (algorithm 42) of sums of up to nine products. |output| < q. */
CRYPTO_NOT_INLINE static void transform_back(int32_t *p) {
    if (TRANSFORM_REDUCES)
        for (unsigned i = 0; i < 256; i++)
            p[i] = centered(p[i]);
    two_layers_back(p, 1);
    two_layers_back(p, 4);
    two_layers_back(p, 16);
    two_layers_back(p, 64);
}

#endif
