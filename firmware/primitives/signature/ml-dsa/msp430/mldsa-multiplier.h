/* Products by the 16 x 16 hardware multiplier (SLAU049, chapter 7), which no interrupt may use
   meanwhile; in mldsa-products.S, and so in functions: a compiler may put its own multiplications,
   which use it too, anywhere between accesses to it. */
#ifndef MLDSA_MULTIPLIER_H
#define MLDSA_MULTIPLIER_H

#include "signature/ml-dsa/mldsa-barrett.h"

typedef unsigned root; /* its number */

static inline root root_of(unsigned i) {
    return i;
}

#define LAST_FACTOR LAST_FACTOR_NUMBER
#define LAST_ROOT LAST_ROOT_NUMBER

/* As kept_small, times_root and product of mldsa-barrett.h. With a / 2^9 in place of a / 2^8, which
   would not fit 16 bits, a quotient is off by up to 248 for one of the roots and by less for
   others, and |result| < 0.75 q. The share of b in a product is off by -1/4 to 7/4, and fits 16
   bits where -q/2 < b < q/2. */
int32_t mldsa_kept_small(int32_t a);
int32_t mldsa_times_root(int32_t a, root w);
int32_t mldsa_product(int32_t a, int32_t b);

static inline int32_t kept_small(int32_t a) {
    return mldsa_kept_small(a);
}

static inline int32_t times_root(int32_t a, root w) {
    return mldsa_times_root(a, w);
}

/* b is public. */
static inline int32_t product(int32_t a, int32_t b) {
    if (b > Q / 2)
        b -= Q;
    else if (b < -Q / 2)
        b += Q;
    return mldsa_product(a, b);
}

#endif
