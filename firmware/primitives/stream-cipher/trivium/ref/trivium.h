/* Trivium, one bit at a time. */
#ifndef TRIVIUM_H
#define TRIVIUM_H

#include "stream-cipher.h"

enum { TRIVIUM_KEY_BYTES = 10, TRIVIUM_NONCE_BYTES = 10 };

typedef struct {
    /* s_1 to s_288 of the specification: s_i is bit (i - 1) % 8 of byte (i - 1) / 8. */
    uint8_t s[36];
} trivium_ctx;

void trivium_init(trivium_ctx *ctx, const uint8_t *key, const uint8_t *nonce);
void trivium_encrypt(trivium_ctx *ctx, uint8_t *out, const uint8_t *in, size_t length);

#endif
