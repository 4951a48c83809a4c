/* The field of 2^255 - 19 elements, over any multiplication. The including file has defined fe (an
   array of FE_WORDS words that hold FE_BYTES bytes, little-endian), fe_word, and the functions
   named here. Elements are any number below 2^256. */
#ifndef FIELD_P25519_H
#define FIELD_P25519_H

#include "crypto.h"

#define fe_multiply p25519_multiply
#define fe_square p25519_square
#define fe_add p25519_add
#define fe_subtract p25519_subtract

static void fe_copy(fe out, const fe a) {
    for (unsigned i = 0; i < FE_WORDS; i++)
        out[i] = a[i];
}

/* Reads 255 bits: the highest bit is ignored (RFC 7748, section 5). */
static void fe_from_bytes(fe out, const uint8_t bytes[FE_BYTES]) {
    for (unsigned i = 0; i < FE_WORDS; i++) {
        out[i] = 0;
        for (unsigned n = 0; n < sizeof(fe_word); n++)
            out[i] |= (fe_word)((fe_word)bytes[i * sizeof(fe_word) + n] << 8 * n);
    }
    out[FE_WORDS - 1] &= (fe_word) ~(fe_word)0 >> 1;
}

/* Writes the fully reduced number, from 0 to 2^255 - 20. */
__attribute__((cold)) static void fe_to_bytes(uint8_t bytes[FE_BYTES], const fe a) {
    uint8_t less[FE_BYTES];
    /* Bit 255 counts 19, twice if that sets it again; then less = a - p + 2^255. */
    for (unsigned i = 0; i < FE_BYTES; i++)
        bytes[i] = (uint8_t)(a[i / sizeof(fe_word)] >> i % sizeof(fe_word) * 8);
    for (unsigned twice = 0; twice < 2; twice++) {
        uint16_t carry = (uint16_t)(crypto_mask(bytes[FE_BYTES - 1] >> 7) & 19);
        bytes[FE_BYTES - 1] &= 127;
        for (unsigned i = 0; i < FE_BYTES; i++, carry >>= 8) {
            carry = (uint16_t)(carry + bytes[i]);
            bytes[i] = (uint8_t)carry;
        }
    }
    uint16_t carry = 19;
    for (unsigned i = 0; i < FE_BYTES; i++, carry >>= 8) {
        carry = (uint16_t)(carry + bytes[i]);
        less[i] = (uint8_t)carry;
    }
    uint8_t mask = (uint8_t)crypto_mask(less[FE_BYTES - 1] >> 7);
    less[FE_BYTES - 1] &= 127;
    for (unsigned i = 0; i < FE_BYTES; i++)
        bytes[i] = (uint8_t)((bytes[i] & ~mask) | (less[i] & mask));
}

#ifndef fe_square_times
/* out = a^(2^count) * b */
static void fe_square_times(fe out, const fe a, unsigned count, const fe b) {
    fe t;
    fe_square(t, a);
    while (--count > 0)
        fe_square(t, t);
    fe_multiply(out, t, b);
}
#endif

/* a^(2^250 - 1), and a^11: the start of inversion and of square roots. */
__attribute__((cold, unused)) static void fe_power_250(fe out, fe eleven, const fe a) {
    fe two, t, u;
    fe_square(two, a);
    fe_square_times(t, two, 2, a);    /* 9 */
    fe_multiply(eleven, t, two);      /* 11 */
    fe_square_times(t, eleven, 1, t); /* 2^5 - 1 */
    fe_square_times(t, t, 5, t);      /* 2^10 - 1 */
    fe_square_times(u, t, 10, t);     /* 2^20 - 1 */
    fe_square_times(u, u, 20, u);     /* 2^40 - 1 */
    fe_square_times(t, u, 10, t);     /* 2^50 - 1 */
    fe_square_times(u, t, 50, t);     /* 2^100 - 1 */
    fe_square_times(u, u, 100, u);    /* 2^200 - 1 */
    fe_square_times(out, u, 50, t);   /* 2^250 - 1 */
}

#ifdef P25519_DIVIDE
/* 1 / a, below 2^255 + 2^11; 0 if a is 0. As f and g go from p and a to 1 or -1 and 0, d and e go
   from 0 and 1 while d a = f. |d| is below 21 p: each of 40 times adds half of p. */
static void fe_invert(fe out, const fe a) {
    enum { LIMBS = 18, BITS = 15, MASK = (1 << BITS) - 1 };
    int16_t f_g[LIMBS][2] = {[0] = {-19}, [LIMBS - 1] = {1}}, d_e[LIMBS][2] = {{0, 1}};
    fe reduced;
    fe_to_bytes((uint8_t *)reduced, a);
    for (unsigned i = 0, at = 0; i < LIMBS; i++, at += BITS) {
        uint64_t words = reduced[at / 32] | (uint64_t)(at < 224 ? reduced[at / 32 + 1] : 0) << 32;
        f_g[i][1] = (int16_t)(words >> at % 32 & MASK);
    }
    P25519_DIVIDE(f_g, d_e);
    /* f d + 32 p, and what exceeds 255 bits 19 times. */
    int32_t sum = -19 * 32, negative = f_g[LIMBS - 1][0];
    __asm__("" : "+r"(negative));
    for (unsigned i = 0; i < LIMBS - 1; i++) {
        sum += (d_e[i][0] ^ negative) - negative;
        d_e[i][0] = (int16_t)(sum & MASK);
        sum >>= BITS;
    }
    sum = 19 * (sum + 32 + ((d_e[LIMBS - 1][0] ^ negative) - negative));
    for (unsigned i = 0; i < FE_WORDS; i++)
        out[i] = 0;
    for (unsigned i = 0, at = 0; i < LIMBS - 1; i++, at += BITS) {
        sum += d_e[i][0];
        uint32_t bits = (uint32_t)sum & MASK;
        out[at / 32] |= bits << at % 32;
        if (at % 32 > 32 - BITS)
            out[at / 32 + 1] |= bits >> (32 - at % 32);
        sum >>= BITS;
    }
    out[FE_WORDS - 1] |= (uint32_t)sum << 31;
}
#else
/* 1 / a = a^(p - 2); 0 if a is 0. */
static void fe_invert(fe out, const fe a) {
    fe eleven, t;
    fe_power_250(t, eleven, a);
    fe_square_times(out, t, 5, eleven);
}
#endif

#endif
