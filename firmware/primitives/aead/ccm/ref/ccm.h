/* CCM (SP 800-38C): nonces of 7 to 13 bytes, tags of 4, 6, ..., 16 bytes. */
#ifndef CCM_H
#define CCM_H

#include "aead.h"
#include "over.h"

enum { CCM_KEY_BYTES = BLOCK_CIPHER_KEY_BYTES, CCM_NONCE_BYTES = 13, CCM_TAG_BYTES = 16 };

typedef struct {
    block_cipher_ctx cipher;
} ccm_ctx;

void ccm_init(ccm_ctx *ctx, const uint8_t *key);
crypto_status ccm_encrypt(const ccm_ctx *ctx, const aead_message *m);
crypto_status ccm_decrypt(const ccm_ctx *ctx, const aead_message *m);

#endif
