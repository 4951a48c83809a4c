/* Grain v1, 16 steps at a time in words of 32 bits. */
#ifndef GRAIN_V1_H
#define GRAIN_V1_H

#include "stream-cipher.h"

enum { GRAIN_V1_KEY_BYTES = 10, GRAIN_V1_NONCE_BYTES = 8 };

typedef struct {
    uint32_t b[3], s[3]; /* b_i and s_i are bit i % 32 of word i / 32; the last words have 16
                            bits */
} grain_v1_state;

typedef struct {
    grain_v1_state state;
    uint32_t stream; /* its low bytes are still unused */
    unsigned left;   /* number of unused bytes */
} grain_v1_ctx;

void grain_v1_init(grain_v1_ctx *ctx, const uint8_t *key, const uint8_t *nonce);
void grain_v1_encrypt(grain_v1_ctx *ctx, uint8_t *out, const uint8_t *in, size_t length);

#endif
