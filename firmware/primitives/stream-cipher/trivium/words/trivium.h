/* Trivium, 32 steps at a time. */
#ifndef TRIVIUM_H
#define TRIVIUM_H

#include "stream-cipher.h"

enum { TRIVIUM_KEY_BYTES = 10, TRIVIUM_NONCE_BYTES = 10 };

/* The last bits that entered each register, newest bit highest: s_1 to s_93, s_94 to s_177, s_178
   to s_288. */
typedef struct {
    uint32_t a[3], b[3], c[4];
} trivium_state;

typedef struct {
    trivium_state state;
    uint32_t stream; /* its low bytes are still unused */
    unsigned left;   /* number of unused bytes */
} trivium_ctx;

void trivium_init(trivium_ctx *ctx, const uint8_t *key, const uint8_t *nonce);
void trivium_encrypt(trivium_ctx *ctx, uint8_t *out, const uint8_t *in, size_t length);

#endif
