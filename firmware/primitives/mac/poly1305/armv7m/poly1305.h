/* Poly1305 with a one-time key of 32 bytes, for ARMv7-M. */
#ifndef POLY1305_H
#define POLY1305_H

#include "mac.h"

enum { POLY1305_KEY_BYTES = 32, POLY1305_TAG_BYTES = 16, POLY1305_LIMBS = 10 };

typedef uint32_t poly1305_limb;

typedef struct {
    poly1305_limb h[POLY1305_LIMBS]; /* 13 bits each, least significant first */
    /* 5 r[1] to 5 r[9], then r[0] to r[9], as 2^130 is 5 modulo p. */
    poly1305_limb r[2 * POLY1305_LIMBS - 1];
    uint8_t s[16];
    uint8_t block[16];
    uint8_t used; /* bytes in block, below 16 between calls */
} poly1305_ctx;

crypto_status poly1305_init(poly1305_ctx *ctx, const uint8_t *key, size_t key_length);
void poly1305_update(poly1305_ctx *ctx, const uint8_t *data, size_t length);
void poly1305_final(poly1305_ctx *ctx, uint8_t *tag);

#endif
