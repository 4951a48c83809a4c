/* Poly1305 with a one-time key of 32 bytes. */
#ifndef POLY1305_H
#define POLY1305_H

#include "mac.h"

enum { POLY1305_KEY_BYTES = 32, POLY1305_TAG_BYTES = 16, POLY1305_LIMBS = 10 };

typedef struct {
    uint16_t h[POLY1305_LIMBS], r[POLY1305_LIMBS]; /* 13 bits each, least significant first */
    uint8_t s[16];
    uint8_t block[16];
    uint8_t used; /* bytes in block, below 16 between calls */
} poly1305_ctx;

crypto_status poly1305_init(poly1305_ctx *ctx, const uint8_t *key, size_t key_length);
void poly1305_update(poly1305_ctx *ctx, const uint8_t *data, size_t length);
void poly1305_final(poly1305_ctx *ctx, uint8_t *tag);

#endif
