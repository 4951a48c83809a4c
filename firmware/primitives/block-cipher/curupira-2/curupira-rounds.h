/* The round function shared by Curupira-1 and Curupira-2, in the notation of the Curupira-1 paper.
   The state has three rows and four columns; byte 3 j + i is in row i and column j. */
#ifndef CURUPIRA_ROUNDS_H
#define CURUPIRA_ROUNDS_H

#include "block-cipher.h"
#include "block-cipher/curupira-2/curupira-sbox.h"

enum { CURUPIRA_BLOCK_BYTES = 12 };

#define CURUPIRA_ENTRY(s) (s)
static const uint8_t curupira_sbox[256] = {CURUPIRA_SBOX(CURUPIRA_ENTRY)};

static inline uint8_t curupira_times_x(uint8_t a) {
    return (uint8_t)CURUPIRA_MUL2(a);
}

static inline void curupira_xor(uint8_t *state, const uint8_t *round_key) {
    for (unsigned i = 0; i < CURUPIRA_BLOCK_BYTES; i++)
        state[i] ^= round_key[i];
}

/* gamma, the S-box, and pi, which swaps columns in rows 1 and 2: b[i][j] = S(a[i][i xor j]). */
static inline void curupira_gamma_pi(uint8_t *state) {
    uint8_t a[CURUPIRA_BLOCK_BYTES];
    for (unsigned i = 0; i < CURUPIRA_BLOCK_BYTES; i++)
        a[i] = curupira_sbox[state[i]];
    for (unsigned j = 0; j < 4; j++)
        for (unsigned i = 0; i < 3; i++)
            state[3 * j + i] = a[3 * (i ^ j) + i];
    crypto_wipe(a, sizeof a);
}

/* theta, a product of each column with D = I + (2, 4, 6)^t (1, 1, 1), which is its own inverse. */
static inline void curupira_theta(uint8_t *state) {
    for (uint8_t *column = state; column < state + CURUPIRA_BLOCK_BYTES; column += 3) {
        uint8_t v = curupira_times_x(column[0] ^ column[1] ^ column[2]);
        uint8_t w = curupira_times_x(v);
        column[0] ^= v;
        column[1] ^= w;
        column[2] ^= v ^ w;
    }
}

/* Runs all rounds; round_keys are in the order of encryption. */
static inline void curupira_encrypt(uint8_t *state, const uint8_t *round_keys, unsigned rounds) {
    curupira_xor(state, round_keys);
    for (unsigned r = 1; r < rounds; r++) {
        curupira_gamma_pi(state);
        curupira_theta(state);
        curupira_xor(state, round_keys += CURUPIRA_BLOCK_BYTES);
    }
    curupira_gamma_pi(state);
    curupira_xor(state, round_keys + CURUPIRA_BLOCK_BYTES);
}

/* The same with the keys reversed, and with theta after the key addition: theta is linear and the
   keys have not been transformed, so theta(a) + theta(k) = theta(a + k). */
static inline void curupira_decrypt(uint8_t *state, const uint8_t *round_keys, unsigned rounds) {
    round_keys += CURUPIRA_BLOCK_BYTES * rounds;
    curupira_xor(state, round_keys);
    for (unsigned r = 1; r < rounds; r++) {
        curupira_gamma_pi(state);
        curupira_xor(state, round_keys -= CURUPIRA_BLOCK_BYTES);
        curupira_theta(state);
    }
    curupira_gamma_pi(state);
    curupira_xor(state, round_keys - CURUPIRA_BLOCK_BYTES);
}

/* Marvin's square-complete transform: four unkeyed rounds. */
static inline void curupira_sct(uint8_t *state) {
    for (unsigned r = 0; r < 4; r++) {
        curupira_gamma_pi(state);
        curupira_theta(state);
    }
}

#endif
