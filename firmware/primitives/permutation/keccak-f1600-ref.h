/* Keccak-f[1600] in portable C, on lanes of 64 bits: lane (x, y) is number x + 5 y. */
#ifndef KECCAK_F1600_REF_H
#define KECCAK_F1600_REF_H

#include "crypto.h"
#include "permutation/keccak-tables.h"

static uint64_t rotl(uint64_t x, unsigned n) {
    return x << n | x >> (64 - n);
}

/* In halves: from a 64-bit shift by one, GCC for the MSP430 makes an addition with branches on its
   carries. */
static uint64_t rotl1(uint64_t x) {
    uint32_t low = (uint32_t)x, high = (uint32_t)(x >> 32);
    return (uint64_t)(high << 1 | low >> 31) << 32 | (low << 1 | high >> 31);
}

typedef uint64_t keccak_lane;

CRYPTO_NOT_INLINE __attribute__((unused)) static void keccak_permute(keccak_lane a[25]) {
    uint64_t c[5];
#include "permutation/keccak-rounds.inc"
    crypto_wipe(c, sizeof c);
}

static inline void keccak_add(keccak_lane *state, unsigned lane, const uint8_t bytes[8]) {
    uint64_t word = 0;
    for (unsigned i = 8; i-- > 0;)
        word = word << 8 | bytes[i];
    state[lane] ^= word;
}

/* Adds the last bit of the padding, which is bit 63 of the rate's last lane. */
static inline void keccak_add_bit63(keccak_lane *state, unsigned lane) {
    state[lane] ^= (uint64_t)1 << 63;
}

static inline void keccak_get(const keccak_lane *state, unsigned lane, uint8_t bytes[8]) {
    uint64_t word = state[lane];
    for (unsigned i = 0; i < 8; i++, word >>= 8)
        bytes[i] = (uint8_t)word;
}

#endif
