/* The key schedule of Curupira-2 with 96-bit keys. */
#ifndef CURUPIRA2_SCHEDULE_H
#define CURUPIRA2_SCHEDULE_H

#include "block-cipher/curupira-2/curupira-rounds.h"
#include "curupira2.h"

/* Computes all round keys. */
static inline void curupira2_expand(uint8_t *round_key, const uint8_t *key, const uint8_t *sbox) {
    uint8_t k[CURUPIRA2_KEY_BYTES];
    for (unsigned i = 0; i < sizeof k; i++)
        k[i] = key[i];
    for (unsigned r = 0;; r++) {
        /* Key selection: the S-box on row 0. */
        for (unsigned i = 0; i < CURUPIRA2_BLOCK_BYTES; i++)
            round_key[i] = i % 3 == 0 ? sbox[k[i]] : k[i];
        if (r == CURUPIRA2_ROUNDS)
            break;
        round_key += CURUPIRA2_BLOCK_BYTES;

        /* Key evolution: add the constant S(r) to the most significant byte, k[0], and multiply by
           x^8 in GF(2^96) modulo x^96 + x^16 + x^13 + x^11 + 1. */
        uint8_t u = k[0] ^ sbox[r];
        for (unsigned i = 0; i + 1 < sizeof k; i++)
            k[i] = k[i + 1];
        k[9] ^= (uint8_t)(u ^ u >> 3 ^ u >> 5);
        k[10] ^= (uint8_t)((unsigned)u << 5 ^ (unsigned)u << 3);
        k[11] = u;
    }
    crypto_wipe(k, sizeof k);
}

#endif
