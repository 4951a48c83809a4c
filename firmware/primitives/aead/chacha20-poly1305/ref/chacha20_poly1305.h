/* ChaCha20-Poly1305 (RFC 8439): nonces of 12 bytes, tags of 16. */
#ifndef CHACHA20_POLY1305_H
#define CHACHA20_POLY1305_H

#include "aead.h"

enum {
    CHACHA20_POLY1305_KEY_BYTES = 32,
    CHACHA20_POLY1305_NONCE_BYTES = 12,
    CHACHA20_POLY1305_TAG_BYTES = 16
};

typedef struct {
    uint8_t key[CHACHA20_POLY1305_KEY_BYTES];
} chacha20_poly1305_ctx;

void chacha20_poly1305_init(chacha20_poly1305_ctx *ctx, const uint8_t *key);
crypto_status chacha20_poly1305_encrypt(const chacha20_poly1305_ctx *ctx, const aead_message *m);
crypto_status chacha20_poly1305_decrypt(const chacha20_poly1305_ctx *ctx, const aead_message *m);

#endif
