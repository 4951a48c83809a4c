/* Grain v1, one bit at a time. */
#ifndef GRAIN_V1_H
#define GRAIN_V1_H

#include "stream-cipher.h"

enum { GRAIN_V1_KEY_BYTES = 10, GRAIN_V1_NONCE_BYTES = 8 };

typedef struct {
    /* The two registers: b_i and s_i are bit i % 8 of byte i / 8. */
    uint8_t b[10], s[10];
} grain_v1_ctx;

void grain_v1_init(grain_v1_ctx *ctx, const uint8_t *key, const uint8_t *nonce);
void grain_v1_encrypt(grain_v1_ctx *ctx, uint8_t *out, const uint8_t *in, size_t length);

#endif
