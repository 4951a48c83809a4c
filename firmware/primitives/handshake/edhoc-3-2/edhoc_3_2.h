#ifndef EDHOC_3_2_H
#define EDHOC_3_2_H

#include "handshake.h"

enum { EDHOC_3_2_SECRET_BYTES = 32, EDHOC_3_2_KEY_BYTES = 32 };

typedef struct {
    uint8_t th[32], prk[32], prk_2e[32];
} edhoc_3_2_ctx;

crypto_status edhoc_3_2_message_1(edhoc_3_2_ctx *ctx, const handshake *h, handshake_bytes *out);
crypto_status edhoc_3_2_message_2(edhoc_3_2_ctx *ctx, const handshake *h, const handshake_bytes *in,
                                  handshake_bytes *out);
crypto_status edhoc_3_2_message_3(edhoc_3_2_ctx *ctx, const handshake *h, const handshake_bytes *in,
                                  handshake_bytes *out);
crypto_status edhoc_3_2_finish(edhoc_3_2_ctx *ctx, const handshake *h, const handshake_bytes *in);
void edhoc_3_2_key(const edhoc_3_2_ctx *ctx, uint8_t *key);

#endif
