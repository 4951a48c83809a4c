/* Skipjack for the MSP430: the cryptovariable is expanded into the order in which the 32 steps use
   it, four bytes each. */
#ifndef SKIPJACK_H
#define SKIPJACK_H

#include "block-cipher.h"

enum { SKIPJACK_KEY_BYTES = 10, SKIPJACK_BLOCK_BYTES = 8 };

typedef struct {
    uint8_t cv[4 * 32];
} skipjack_ctx;

void skipjack_init(skipjack_ctx *ctx, const uint8_t *key);
void skipjack_encrypt(const skipjack_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks);
void skipjack_decrypt(const skipjack_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks);

#endif
