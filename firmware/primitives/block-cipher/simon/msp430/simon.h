/* SIMON64/128 for the MSP430, in the byte order of the designers' implementation guide. */
#ifndef SIMON_H
#define SIMON_H

#include "block-cipher.h"

enum { SIMON_KEY_BYTES = 16, SIMON_BLOCK_BYTES = 8, SIMON_ROUNDS = 44 };

typedef struct {
    uint32_t round_keys[SIMON_ROUNDS];
} simon_ctx;

void simon_init(simon_ctx *ctx, const uint8_t *key);
void simon_encrypt(const simon_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks);
void simon_decrypt(const simon_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks);

#endif
