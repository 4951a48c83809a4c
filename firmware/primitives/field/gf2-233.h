/* GF(2^233) modulo z^233 + z^74 + 1 (SEC 2, version 2.0, table 3), in 256 bits, of which the
   highest are 0. If assembly multiplies polynomials, the including file has included a header that
   declares it and defines fe_product and FE_WORD_BITS; otherwise they are multiplied in C here.
   Every function takes the same time for all operands if a 16 x 16-bit product does. */
#ifndef FIELD_GF2_233_H
#define FIELD_GF2_233_H

#include "crypto.h"

#define FIELD_BYTES 30
#define FE_DEGREE 233

#ifndef fe_product
#define FE_WORD_BITS 16
#endif
#if FE_WORD_BITS == 32
typedef uint32_t fe_word;
#define W(x) x##u
#else
typedef uint16_t fe_word;
#define W(x) (uint16_t)(x##ul), (uint16_t)(x##ul >> 16)
#endif
enum { FE_WORDS = 256 / FE_WORD_BITS };
typedef fe_word fe[FE_WORDS];

static void fe_copy(fe out, const fe a) {
    for (unsigned i = 0; i < FE_WORDS; i++)
        out[i] = a[i];
}

static void fe_add(fe out, const fe a, const fe b) {
    for (unsigned i = 0; i < FE_WORDS; i++)
        out[i] = a[i] ^ b[i];
}

/* Returns all ones if a = 0, else 0. */
static fe_word fe_is_zero(const fe a) {
    fe_word any = 0;
    for (unsigned i = 0; i < FE_WORDS; i++)
        any |= a[i];
    any |= any >> FE_WORD_BITS / 2;
    return (fe_word)~crypto_mask32(crypto_not_zero((any | any >> 8) & 0xff));
}

/* Swaps a and b if the mask is all ones. */
static void fe_swap(fe a, fe b, fe_word mask) {
    for (unsigned i = 0; i < FE_WORDS; i++) {
        fe_word t = (fe_word)((a[i] ^ b[i]) & mask);
        a[i] ^= t;
        b[i] ^= t;
    }
}

#ifndef fe_product
#define fe_product product_16
#ifndef word_product
/* Multiplies 16-bit polynomials with integer products of every fourth bit of each operand: at most
   four products are added in one bit, and their sum extends into the next two bits, which are
   masked off (method of Pornin, BearSSL, "Constant-Time Mul"). */
static uint32_t word_product(uint16_t a, uint16_t b) {
    uint32_t a0 = a & 0x1111, a1 = a & 0x2222, a2 = a & 0x4444, a3 = a & 0x8888;
    uint32_t b0 = b & 0x1111, b1 = b & 0x2222, b2 = b & 0x4444, b3 = b & 0x8888;
    uint32_t c0 = a0 * b0 ^ a1 * b3 ^ a2 * b2 ^ a3 * b1;
    uint32_t c1 = a0 * b1 ^ a1 * b0 ^ a2 * b3 ^ a3 * b2;
    uint32_t c2 = a0 * b2 ^ a1 * b1 ^ a2 * b0 ^ a3 * b3;
    uint32_t c3 = a0 * b3 ^ a1 * b2 ^ a2 * b1 ^ a3 * b0;
    return (c0 & 0x11111111) | (c1 & 0x22222222) | (c2 & 0x44444444) | (c3 & 0x88888888);
}
#endif

/* Karatsuba, for two, four, eight and sixteen words. */
static void product_2(uint16_t out[4], const uint16_t a[2], const uint16_t b[2]) {
    uint32_t low = word_product(a[0], b[0]), high = word_product(a[1], b[1]);
    uint32_t middle = word_product(a[0] ^ a[1], b[0] ^ b[1]) ^ low ^ high;
    out[0] = (uint16_t)low;
    out[1] = (uint16_t)(low >> 16 ^ middle);
    out[2] = (uint16_t)(high ^ middle >> 16);
    out[3] = (uint16_t)(high >> 16);
}

#define PRODUCT(words, half, of_half)                                                              \
    static void product_##words(uint16_t out[2 * (words)], const uint16_t a[words],                \
                                const uint16_t b[words]) {                                         \
        uint16_t s[half], t[half], middle[words];                                                  \
        for (unsigned i = 0; i < (half); i++) {                                                    \
            s[i] = a[i] ^ a[i + (half)];                                                           \
            t[i] = b[i] ^ b[i + (half)];                                                           \
        }                                                                                          \
        of_half(out, a, b);                                                                        \
        of_half(out + (words), a + (half), b + (half));                                            \
        of_half(middle, s, t);                                                                     \
        for (unsigned i = 0; i < (words); i++)                                                     \
            middle[i] ^= out[i] ^ out[i + (words)];                                                \
        for (unsigned i = 0; i < (words); i++)                                                     \
            out[i + (half)] ^= middle[i];                                                          \
    }
PRODUCT(4, 2, product_2)
PRODUCT(8, 4, product_4)
PRODUCT(16, 8, product_8)
#undef PRODUCT
#endif

/* Reduces modulo the polynomial: z^233 = z^74 + 1. Bit 233 is bit 9 of the word LAST. */
static void fe_reduce(fe out, fe_word c[2 * FE_WORDS]) {
    enum { LAST = FE_DEGREE / FE_WORD_BITS, MIDDLE = 64 / FE_WORD_BITS };
    fe_word t;
    for (unsigned i = 2 * FE_WORDS; i-- > LAST + 1;) {
        t = c[i];
        c[i - LAST - 1] ^= (fe_word)(t << (FE_WORD_BITS - 9));
        c[i - LAST] ^= t >> 9;
        c[i - LAST + MIDDLE] ^= (fe_word)(t << 1);
        c[i - LAST + MIDDLE + 1] ^= t >> (FE_WORD_BITS - 1);
    }
    t = c[LAST] >> 9;
    c[LAST] &= 0x1ff;
    c[0] ^= t;
    c[MIDDLE] ^= (fe_word)(t << 10);
    c[MIDDLE + 1] ^= t >> (FE_WORD_BITS - 10);
    for (unsigned i = 0; i < FE_WORDS; i++)
        out[i] = i <= LAST ? c[i] : 0;
}

static void fe_multiply(fe out, const fe a, const fe b) {
    fe_word product[2 * FE_WORDS];
    fe_product(product, a, b);
    fe_reduce(out, product);
}

/* Inserts a zero between every two bits. */
static uint32_t spread(uint16_t a) {
    uint32_t t = a;
    t = (t | t << 8) & 0x00ff00ff;
    t = (t | t << 4) & 0x0f0f0f0f;
    t = (t | t << 2) & 0x33333333;
    return (t | t << 1) & 0x55555555;
}

static void fe_square(fe out, const fe a) {
    fe_word square[2 * FE_WORDS];
    for (unsigned i = 0; i < FE_WORDS; i++) {
#if FE_WORD_BITS == 32
        square[2 * i] = spread((uint16_t)a[i]);
        square[2 * i + 1] = spread((uint16_t)(a[i] >> 16));
#else
        uint32_t t = spread(a[i]);
        square[2 * i] = (uint16_t)t;
        square[2 * i + 1] = (uint16_t)(t >> 16);
#endif
    }
    fe_reduce(out, square);
}

/* 1 / a = (a^(2^232 - 1))^2, or 0 if a is 0 (Itoh, Tsujii, "A fast algorithm for computing
   multiplicative inverses in GF(2^m) using normal bases", 1988): a^(2^n - 1) for n = 1, 3, 7, 14,
   29, 58, 116, 232, the binary prefixes of 232. */
static void fe_invert(fe out, const fe a) {
    fe power, t;
    unsigned n = 1;
    fe_copy(power, a);
    for (unsigned bit = 7; bit-- > 0;) {
        fe_copy(t, power);
        for (unsigned i = 0; i < n; i++)
            fe_square(t, t);
        fe_multiply(power, power, t);
        n *= 2;
        if ((FE_DEGREE - 1) >> bit & 1) {
            fe_square(power, power);
            fe_multiply(power, power, a);
            n++;
        }
    }
    fe_square(out, power);
}

/* Reads big-endian bytes; returns 0 if they are not an element. */
static int fe_from_bytes(fe out, const uint8_t in[FIELD_BYTES]) {
    for (unsigned i = 0; i < FE_WORDS; i++)
        out[i] = 0;
    for (unsigned i = 0; i < FIELD_BYTES; i++)
        out[i / sizeof(fe_word)] |=
            (fe_word)((fe_word)in[FIELD_BYTES - 1 - i] << i % sizeof(fe_word) * 8);
    return out[FE_DEGREE / FE_WORD_BITS] >> 9 == 0;
}

static void fe_to_bytes(uint8_t out[FIELD_BYTES], const fe a) {
    for (unsigned i = 0; i < FIELD_BYTES; i++)
        out[FIELD_BYTES - 1 - i] = (uint8_t)(a[i / sizeof(fe_word)] >> i % sizeof(fe_word) * 8);
}

#endif
