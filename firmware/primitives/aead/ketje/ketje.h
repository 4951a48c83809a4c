/* Ketje Sr version 1 (CAESAR, 2014): MonkeyWrap over Keccak-p[400]. Nonces of 0 to 31 bytes, tags
   of 4 to 16. */
#ifndef KETJE_H
#define KETJE_H

#include "aead.h"

enum { KETJE_KEY_BYTES = 16, KETJE_NONCE_BYTES = 16, KETJE_TAG_BYTES = 16 };

typedef struct {
    uint8_t key[KETJE_KEY_BYTES];
} ketje_ctx;

void ketje_init(ketje_ctx *ctx, const uint8_t *key);
crypto_status ketje_encrypt(const ketje_ctx *ctx, const aead_message *m);
crypto_status ketje_decrypt(const ketje_ctx *ctx, const aead_message *m);

#endif
