#ifndef EDHOC_0_0_H
#define EDHOC_0_0_H

#include "handshake.h"

enum { EDHOC_0_0_SECRET_BYTES = 32, EDHOC_0_0_KEY_BYTES = 32 };

typedef struct {
    uint8_t th[32], prk[32], prk_2e[32];
} edhoc_0_0_ctx;

crypto_status edhoc_0_0_message_1(edhoc_0_0_ctx *ctx, const handshake *h, handshake_bytes *out);
crypto_status edhoc_0_0_message_2(edhoc_0_0_ctx *ctx, const handshake *h, const handshake_bytes *in,
                                  handshake_bytes *out);
crypto_status edhoc_0_0_message_3(edhoc_0_0_ctx *ctx, const handshake *h, const handshake_bytes *in,
                                  handshake_bytes *out);
crypto_status edhoc_0_0_finish(edhoc_0_0_ctx *ctx, const handshake *h, const handshake_bytes *in);
void edhoc_0_0_key(const edhoc_0_0_ctx *ctx, uint8_t *key);

#endif
