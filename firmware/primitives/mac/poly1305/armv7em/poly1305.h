/* Poly1305 with a one-time key of 32 bytes, for ARMv7-M and ARMv7E-M. */
#ifndef POLY1305_H
#define POLY1305_H

#include "mac.h"

enum { POLY1305_KEY_BYTES = 32, POLY1305_TAG_BYTES = 16 };

typedef struct {
    uint32_t h[5]; /* the most significant is below 8 between blocks */
    uint32_t r[4];
    uint32_t s[4];
    uint8_t block[16];
    uint8_t used; /* bytes in block, below 16 between calls */
} poly1305_ctx;

crypto_status poly1305_init(poly1305_ctx *ctx, const uint8_t *key, size_t key_length);
void poly1305_update(poly1305_ctx *ctx, const uint8_t *data, size_t length);
void poly1305_final(poly1305_ctx *ctx, uint8_t *tag);

#endif
