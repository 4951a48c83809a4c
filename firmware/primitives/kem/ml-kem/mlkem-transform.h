/* The number-theoretic transform in portable C. Include it after "kem/ml-kem/mlkem-arithmetic.h".
 */
#ifndef MLKEM_TRANSFORM_H
#define MLKEM_TRANSFORM_H

#include "mlkem-arithmetic.h"

/* Returns what is congruent to a, between -q/2 and q/2: 20159 = round(2^26 / q) (P. Barrett,
   CRYPTO '86). */
static inline int16_t centered(int16_t a) {
    int16_t t = (int16_t)(((int32_t)a * 20159 + ((int32_t)1 << 25)) >> 26);
    return (int16_t)(a - t * Q);
}

/* Multiplies all coefficients by f / R. */
static void scale(int16_t *p, int16_t f) {
    for (unsigned i = 0; i < 256; i++)
        p[i] = product(p[i], f);
}

/* NTT (algorithm 9). A product is at most 3 q / 4, since |root| < q / 2, and so is what each
   layer adds to a coefficient: |input| < q, |output| < 7 q. */
static void transform(int16_t *p) {
    unsigned root = 1;
    for (unsigned length = 128; length >= 2; length >>= 1) {
        for (int16_t *block = p; block < p + 256; block += length) {
            int16_t w = roots[root++];
            for (int16_t *end = block + length; block < end; block++) {
                int16_t t = product(w, block[length]);
                block[length] = (int16_t)(block[0] - t);
                block[0] = (int16_t)(block[0] + t);
            }
        }
    }
}

/* Inverse NTT (algorithm 10) of coefficients divided by R. A sum doubles at most, a product is less
   than q: with coefficients made small at the start and in the fourth layer, all stay below 2^15;
   |output| < q. */
static void transform_back(int16_t *p) {
    unsigned root = 127;
    for (unsigned i = 0; i < 256; i++)
        p[i] = centered(p[i]);
    for (unsigned length = 2; length <= 128; length <<= 1) {
        for (int16_t *block = p; block < p + 256; block += length) {
            int16_t w = roots[root--];
            for (int16_t *end = block + length; block < end; block++) {
                int16_t low = block[0], high = block[length];
                int16_t sum = (int16_t)(low + high);
                block[0] = length == 16 ? centered(sum) : sum;
                block[length] = product(w, (int16_t)(high - low));
            }
        }
    }
    scale(p, 1441); /* R^2 / 128 */
}

#endif
