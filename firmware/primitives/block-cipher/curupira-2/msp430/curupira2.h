/* Curupira-2 with 96-bit keys for the MSP430, with precomputed round keys for both directions and
   the state in registers. */
#ifndef CURUPIRA2_H
#define CURUPIRA2_H

#include "block-cipher.h"

enum { CURUPIRA2_KEY_BYTES = 12, CURUPIRA2_BLOCK_BYTES = 12, CURUPIRA2_ROUNDS = 10 };

/* A key's bytes in the order in which crypt.S uses them, columns (0, 1) before (2, 3); the last
   round has its own order. */
typedef struct {
    uint16_t encryption[CURUPIRA2_ROUNDS + 1][6];
    uint16_t decryption[CURUPIRA2_ROUNDS + 1][6];
} curupira2_ctx;

void curupira2_init(curupira2_ctx *ctx, const uint8_t *key);
void curupira2_encrypt(const curupira2_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks);
void curupira2_decrypt(const curupira2_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks);

/* The square-complete transform: four unkeyed rounds, in place. */
void curupira2_sct(uint8_t *block);

#endif
