/* Products by the 16 x 16 hardware multiplier (SLAU049, chapter 7), which no interrupt may use
   meanwhile; bounds are those of mldsa-barrett.h. Nothing that uses it is inlined: a compiler may
   put its own multiplications, which use it too, between volatile accesses. */
#ifndef MLDSA_MULTIPLIER_H
#define MLDSA_MULTIPLIER_H

#include "signature/ml-dsa/mldsa-barrett.h"

#define MULTIPLIER(address) (*(volatile uint16_t *)(address))
#define FIRST_UNSIGNED MULTIPLIER(0x130)
#define FIRST_SIGNED MULTIPLIER(0x132)
#define FIRST_UNSIGNED_ADDING MULTIPLIER(0x134)
#define SECOND MULTIPLIER(0x138)
#define LOW MULTIPLIER(0x13a)
#define HIGH MULTIPLIER(0x13c)

enum { MINUS_Q_LOW = 0x1fff, MINUS_Q_HIGH = 0xff80 };

static inline uint32_t of_halves(uint16_t high, uint16_t low) {
    return (uint32_t)high << 16 | low;
}

typedef unsigned root; /* its number */

static inline root root_of(unsigned i) {
    return i;
}

#define LAST_FACTOR LAST_FACTOR_NUMBER
#define LAST_ROOT LAST_ROOT_NUMBER

static inline int32_t reduced(uint16_t high, uint16_t low) {
    /* The high half less a multiple of 128; of that multiple, 2^23 t, t 2^13 - t is left. */
    high = (uint16_t)(high + 64);
    FIRST_SIGNED = high;
    SECOND = 512;
    uint16_t t = HIGH;
    FIRST_SIGNED = t;
    SECOND = MINUS_Q_LOW;
    uint32_t rest = of_halves(HIGH, LOW);
    return (int32_t)(of_halves((uint16_t)((high & 127) - 64), low) + rest);
}

CRYPTO_NOT_INLINE static int32_t kept_small(int32_t a) {
    return reduced((uint16_t)((uint32_t)a >> 16), (uint16_t)a);
}

/* |result| < 0.75 q, where |a| < 2 q: with a / 2^9 in place of a / 2^8, which would not fit 16
   bits, the quotient is off by up to 248 for one of the roots, and less for others. */
static inline int32_t times(int32_t a, uint16_t high, uint16_t low, uint16_t share) {
    uint16_t a_high = (uint16_t)((uint32_t)a >> 16), a_low = (uint16_t)a;
    FIRST_SIGNED = (uint16_t)((int32_t)(a + 256) >> 9);
    SECOND = share;
    uint32_t twice = of_halves(HIGH, LOW) << 1;
    uint16_t quotient_low = (uint16_t)(twice >> 8);
    uint16_t quotient_high = (uint16_t)((int16_t)(twice >> 16) >> 8);
    FIRST_UNSIGNED = a_low;
    SECOND = high;
    FIRST_UNSIGNED_ADDING = a_high;
    SECOND = low;
    FIRST_UNSIGNED_ADDING = quotient_low;
    SECOND = MINUS_Q_HIGH;
    FIRST_UNSIGNED_ADDING = quotient_high;
    SECOND = MINUS_Q_LOW;
    uint16_t crossed = LOW;
    FIRST_UNSIGNED = a_low;
    SECOND = low;
    FIRST_UNSIGNED_ADDING = quotient_low;
    SECOND = MINUS_Q_LOW;
    low = LOW;
    return reduced((uint16_t)(HIGH + crossed), low);
}

CRYPTO_NOT_INLINE static int32_t times_root(int32_t a, root w) {
    uint32_t value = (uint32_t)roots[w];
    return times(a, (uint16_t)(value >> 16), (uint16_t)value, (uint16_t)root_shares[w]);
}

/* As in mldsa-barrett.h, but for b: it is public, and made smaller than q / 2. Its share, which
   fits 16 bits, is off by -1/4 to 7/4. */
CRYPTO_NOT_INLINE static int32_t product(int32_t a, int32_t b) {
    if (b > Q / 2)
        b -= Q;
    else if (b < -Q / 2)
        b += Q;
    uint32_t c = (uint32_t)(b + 32);
    uint16_t high = (uint16_t)((uint32_t)b >> 16);
    FIRST_UNSIGNED = 512;
    SECOND = (uint16_t)c;
    uint16_t share = HIGH;
    SECOND = (uint16_t)(c >> 16);
    share = (uint16_t)(share + LOW);
    share = (uint16_t)(share + (uint16_t)((int16_t)high >> 1));
    return times(a, high, (uint16_t)b, share);
}

#endif
