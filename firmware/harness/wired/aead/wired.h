/* The identity of the aead kind: the build gives its sizes. */
#ifndef WIRED_AEAD_H
#define WIRED_AEAD_H

#include "aead.h"

typedef struct {
    uint16_t unused;
} wired_ctx;

void wired_init(wired_ctx *ctx, const uint8_t *key);
crypto_status wired_encrypt(const wired_ctx *ctx, const aead_message *m);
crypto_status wired_decrypt(const wired_ctx *ctx, const aead_message *m);

#endif
