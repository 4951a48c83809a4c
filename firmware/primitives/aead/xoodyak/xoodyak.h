/* Xoodyak, the AEAD of NIST LWC's final round: Cyclist over Xoodoo[12]. */
#ifndef XOODYAK_H
#define XOODYAK_H

#include "aead.h"

enum { XOODYAK_KEY_BYTES = 16, XOODYAK_NONCE_BYTES = 16, XOODYAK_TAG_BYTES = 16 };
enum { XOODYAK_STATE_BYTES = 48 };

typedef struct {
    uint8_t key[XOODYAK_KEY_BYTES];
} xoodyak_ctx;

void xoodyak_init(xoodyak_ctx *ctx, const uint8_t *key);
crypto_status xoodyak_encrypt(const xoodyak_ctx *ctx, const aead_message *m);
crypto_status xoodyak_decrypt(const xoodyak_ctx *ctx, const aead_message *m);

#endif
