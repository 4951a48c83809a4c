/* Curupira-1 for ARMv7-M, with precomputed round keys for both directions; CURUPIRA1_KEY_BITS is
   96, 144 or 192. */
#ifndef CURUPIRA1_H
#define CURUPIRA1_H

#include "block-cipher.h"

/* R of the paper: 10, 14 and 18 rounds. */
enum {
    CURUPIRA1_KEY_BYTES = CURUPIRA1_KEY_BITS / 8,
    CURUPIRA1_BLOCK_BYTES = 12,
    CURUPIRA1_ROUNDS = 2 + CURUPIRA1_KEY_BITS / 12
};
_Static_assert(CURUPIRA1_KEY_BITS == 96 || CURUPIRA1_KEY_BITS == 144 || CURUPIRA1_KEY_BITS == 192,
               "CURUPIRA1_KEY_BITS");

typedef struct {
    uint32_t encryption[4 * (CURUPIRA1_ROUNDS + 1)];
    uint32_t decryption[4 * (CURUPIRA1_ROUNDS + 1)];
} curupira1_ctx;

void curupira1_init(curupira1_ctx *ctx, const uint8_t *key);
void curupira1_encrypt(const curupira1_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks);
void curupira1_decrypt(const curupira1_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks);

/* The square-complete transform: four unkeyed rounds, in place. */
void curupira1_sct(uint8_t *block);

#endif
