/* The identity of the block-cipher kind: the build gives its sizes. */
#ifndef WIRED_BLOCK_CIPHER_H
#define WIRED_BLOCK_CIPHER_H

#include "block-cipher.h"

typedef struct {
    uint16_t unused;
} wired_ctx;

void wired_init(wired_ctx *ctx, const uint8_t *key);
void wired_encrypt(const wired_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks);
void wired_decrypt(const wired_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks);

#endif
