/* Curupira-2 with 96-bit keys, one byte at a time. */
#ifndef CURUPIRA2_H
#define CURUPIRA2_H

#include "block-cipher.h"

enum { CURUPIRA2_KEY_BYTES = 12, CURUPIRA2_BLOCK_BYTES = 12, CURUPIRA2_ROUNDS = 10 };

typedef struct {
    uint8_t round_keys[CURUPIRA2_BLOCK_BYTES * (CURUPIRA2_ROUNDS + 1)];
} curupira2_ctx;

void curupira2_init(curupira2_ctx *ctx, const uint8_t *key);
void curupira2_encrypt(const curupira2_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks);
void curupira2_decrypt(const curupira2_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks);

/* The square-complete transform: four unkeyed rounds, in place. */
void curupira2_sct(uint8_t *block);

#endif
