/* The key schedule of Curupira-1. */
#ifndef CURUPIRA1_SCHEDULE_H
#define CURUPIRA1_SCHEDULE_H

#include "block-cipher/curupira-2/curupira-rounds.h"
#include "curupira1.h"

enum { CURUPIRA1_KEY_COLUMNS = CURUPIRA1_KEY_BYTES / 3 }; /* 2 t of the paper */

/* Product with c(x) = x^4 + x^3 + x^2 in GF(2^8). */
static inline uint8_t curupira1_times_c(uint8_t a) {
    uint8_t x2 = curupira_times_x(curupira_times_x(a));
    uint8_t x3 = curupira_times_x(x2);
    return x2 ^ x3 ^ curupira_times_x(x3);
}

/* Computes all round keys. */
static inline void curupira1_expand(uint8_t *round_key, const uint8_t *key, const uint8_t *sbox) {
    uint8_t k[CURUPIRA1_KEY_BYTES], row[CURUPIRA1_KEY_COLUMNS];
    for (unsigned i = 0; i < sizeof k; i++)
        k[i] = key[i];

    uint8_t constant = 0;
    for (unsigned r = 0;; r++) {
        /* phi, key selection: the first four columns, with the S-box on row 0. */
        for (unsigned i = 0; i < CURUPIRA1_BLOCK_BYTES; i++)
            round_key[i] = i % 3 == 0 ? sbox[k[i]] : k[i];
        if (r == CURUPIRA1_ROUNDS)
            break;
        round_key += CURUPIRA1_BLOCK_BYTES;

        /* sigma: row 0 of the constants is S(2 t (s - 1) + j). */
        for (unsigned j = 0; j < CURUPIRA1_KEY_COLUMNS; j++)
            k[3 * j] ^= sbox[constant++];

        /* xi: rotates row 1 left and row 2 right by one column. */
        for (unsigned j = 0; j < CURUPIRA1_KEY_COLUMNS; j++)
            row[j] = k[3 * ((j + 1) % CURUPIRA1_KEY_COLUMNS) + 1];
        for (unsigned j = 0; j < CURUPIRA1_KEY_COLUMNS; j++)
            k[3 * j + 1] = row[j];
        for (unsigned j = 0; j < CURUPIRA1_KEY_COLUMNS; j++)
            row[j] = k[3 * ((j + CURUPIRA1_KEY_COLUMNS - 1) % CURUPIRA1_KEY_COLUMNS) + 2];
        for (unsigned j = 0; j < CURUPIRA1_KEY_COLUMNS; j++)
            k[3 * j + 2] = row[j];

        /* mu: each column times E = I + c (1, 1, 1)^t (1, 1, 1). */
        for (uint8_t *column = k; column < k + sizeof k; column += 3) {
            uint8_t v = curupira1_times_c(column[0] ^ column[1] ^ column[2]);
            for (unsigned i = 0; i < 3; i++)
                column[i] ^= v;
        }
    }
    crypto_wipe(k, sizeof k);
    crypto_wipe(row, sizeof row);
}

#endif
