/* Arithmetic modulo q = 3329 in portable C. Products are reduced as P. L. Montgomery, Modular
   Multiplication Without Trial Division, 1985, has it, with R = 2^16 and signed operands. */
#ifndef MLKEM_ARITHMETIC_H
#define MLKEM_ARITHMETIC_H

#include "crypto.h"

enum { Q = 3329, R_SQUARED = 1353 /* R^2 mod q */ };

/* 17^BitRev7(i) R mod q (FIPS 203, appendix A), between -q/2 and q/2. */
static const int16_t roots[128] = {
    -1044, -758,  -359,  -1517, 1493,  1422,  287,   202,   -171,  622,   1577,  182,   962,
    -1202, -1474, 1468,  573,   -1325, 264,   383,   -829,  1458,  -1602, -130,  -681,  1017,
    732,   608,   -1542, 411,   -205,  -1571, 1223,  652,   -552,  1015,  -1293, 1491,  -282,
    -1544, 516,   -8,    -320,  -666,  -1618, -1162, 126,   1469,  -853,  -90,   -271,  830,
    107,   -1421, -247,  -951,  -398,  961,   -1508, -725,  448,   -1065, 677,   -1275, -1103,
    430,   555,   843,   -1251, 871,   1550,  105,   422,   587,   177,   -235,  -291,  -460,
    1574,  1653,  -246,  778,   1159,  -147,  -777,  1483,  -602,  1119,  -1590, 644,   -872,
    349,   418,   329,   -156,  -75,   817,   1097,  603,   610,   1322,  -1285, -1465, 384,
    -1215, -136,  1218,  -1335, -874,  220,   -1187, -1659, -1185, -1530, -1278, 794,   -1510,
    -854,  -870,  478,   -108,  -308,  996,   991,   958,   -1460, 1522,  1628,
};

/* Returns a / R mod q: |result| <= |a| / R + q / 2. */
static inline int16_t reduced(int32_t a) {
    int16_t t = (int16_t)(uint16_t)((uint16_t)a * 62209u); /* times 1 / q mod R */
    return (int16_t)((a - (int32_t)t * Q) >> 16);
}

#ifdef MLKEM_OWN_PRODUCTS
static inline int16_t product(int16_t a, int16_t b);
static inline int16_t sum_of_products(int16_t a, int16_t b, int16_t c, int16_t d);
#else
/* Returns a b / R mod q. */
static inline int16_t product(int16_t a, int16_t b) {
    return reduced((int32_t)a * b);
}

/* Returns (a b + c d) / R mod q. */
static inline int16_t sum_of_products(int16_t a, int16_t b, int16_t c, int16_t d) {
    return reduced((int32_t)a * b + (int32_t)c * d);
}
#endif

/* Returns what is congruent to a, from 0 to q - 1, where |a| < 7 q: 80636 = ceiling(2^28 / q),
   exact for numbers below 14 q. */
static inline uint16_t canonical(int16_t a) {
    uint16_t positive = (uint16_t)(a + 7 * Q);
    return (uint16_t)(positive - (uint16_t)((uint32_t)positive * 80636u >> 28) * Q);
}

/* Returns the rounded multiple of 2^d / q modulo 2^d of a, where -q <= a < 2 q (FIPS 203, equation
   4.7). The sum has 2^32 / q times a + q in 32 bits, whose highest d are the result: right for all
   a. */
static inline uint16_t compress(int16_t a, unsigned d) {
    uint32_t x = (uint16_t)(a + Q);
    return (uint16_t)((x * 1290167u + (x * 3 >> 3) + ((uint32_t)1 << (31 - d))) >> (32 - d));
}

/* Returns round(q / 2) if the lowest bit is set, else 0. */
static inline int16_t message_term(unsigned bit) {
    return (int16_t)(crypto_mask(bit & 1) & ((Q + 1) / 2));
}

static inline uint16_t unpack_low(const uint8_t *b) {
    return (uint16_t)(b[0] | (b[1] & 15) << 8);
}

static inline uint16_t unpack_high(const uint8_t *b) {
    return (uint16_t)(b[1] >> 4 | b[2] << 4);
}

/* Adds four coefficients of 4 bits each: two less two. */
static inline void add_binomial_2(int16_t *p, uint16_t bits) {
    uint16_t sums = (uint16_t)((bits & 0x5555) + (bits >> 1 & 0x5555));
    for (unsigned i = 0; i < 4; i++, sums >>= 4)
        p[i] = (int16_t)(p[i] + (sums & 3) - (sums >> 2 & 3));
}

/* Adds two coefficients of 6 bits each: three less three. */
static inline void add_binomial_3(int16_t *p, uint16_t bits) {
    uint16_t sums = (uint16_t)((bits & 01111) + (bits >> 1 & 01111) + (bits >> 2 & 01111));
    p[0] = (int16_t)(p[0] + (sums & 7) - (sums >> 3 & 7));
    p[1] = (int16_t)(p[1] + (sums >> 6 & 7) - (sums >> 9));
}

/* Adds the product of a0 + a1 X and the i-th packed pair b0 + b1 X, divided by R (algorithm 12).
   0 <= a, b < q, and so a sum of four products is less than 5 q. */
static inline void add_product(int16_t *p, int16_t a0, int16_t a1, const uint8_t *b, unsigned i) {
    int16_t b0 = (int16_t)unpack_low(b), b1 = (int16_t)unpack_high(b);
    int16_t root = roots[64 + i / 2];
    int16_t high = product(a1, b1);
    p[0] = (int16_t)(p[0] + sum_of_products(a0, b0, (i & 1) != 0 ? (int16_t)-high : high, root));
    p[1] = (int16_t)(p[1] + sum_of_products(a0, b1, a1, b0));
}

#endif
