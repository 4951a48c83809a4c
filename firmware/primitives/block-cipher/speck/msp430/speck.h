/* SPECK64/128 for the MSP430, in the byte order of the designers' implementation guide. */
#ifndef SPECK_H
#define SPECK_H

#include "block-cipher.h"

enum { SPECK_KEY_BYTES = 16, SPECK_BLOCK_BYTES = 8, SPECK_ROUNDS = 27 };

typedef struct {
    uint32_t round_keys[SPECK_ROUNDS];
} speck_ctx;

void speck_init(speck_ctx *ctx, const uint8_t *key);
void speck_encrypt(const speck_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks);
void speck_decrypt(const speck_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks);

#endif
