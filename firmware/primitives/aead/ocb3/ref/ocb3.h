/* OCB3 (RFC 7253; for 96-bit blocks draft-krovetz-ocb-wideblock): nonces of 1 byte to one less than
   a block, tags of 1 byte to a block. */
#ifndef OCB3_H
#define OCB3_H

#include "aead.h"
#include "over.h"

enum {
    OCB3_KEY_BYTES = BLOCK_CIPHER_KEY_BYTES,
    OCB3_NONCE_BYTES = 11, /* longest allowed by both block lengths */
    OCB3_TAG_BYTES = BLOCK_CIPHER_BLOCK_BYTES,
    OCB3_PREPARED = 4 /* L_i; seven of eight blocks need only the first three */
};

typedef struct {
    block_cipher_ctx cipher;
    uint8_t l_star[BLOCK_CIPHER_BLOCK_BYTES];
    uint8_t l_dollar[BLOCK_CIPHER_BLOCK_BYTES];
    uint8_t l[OCB3_PREPARED][BLOCK_CIPHER_BLOCK_BYTES];
} ocb3_ctx;

void ocb3_init(ocb3_ctx *ctx, const uint8_t *key);
crypto_status ocb3_encrypt(const ocb3_ctx *ctx, const aead_message *m);
crypto_status ocb3_decrypt(const ocb3_ctx *ctx, const aead_message *m);

#endif
