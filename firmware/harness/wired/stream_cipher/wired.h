/* The identity of the stream-cipher kind: the build gives its sizes. */
#ifndef WIRED_STREAM_CIPHER_H
#define WIRED_STREAM_CIPHER_H

#include "stream-cipher.h"

typedef struct {
    uint16_t unused;
} wired_ctx;

void wired_init(wired_ctx *ctx, const uint8_t *key, const uint8_t *nonce);
void wired_encrypt(wired_ctx *ctx, uint8_t *out, const uint8_t *in, size_t length);

#endif
