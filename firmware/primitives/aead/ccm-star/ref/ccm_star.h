/* CCM* (IEEE 802.15.4): nonces of 13 bytes, MICs of 0, 4, 8 or 16 bytes. With a MIC of 0 bytes it
   only encrypts: nothing is authenticated, and p_decrypt accepts any input. */
#ifndef CCM_STAR_H
#define CCM_STAR_H

#include "aead.h"
#include "over.h"

enum {
    CCM_STAR_KEY_BYTES = BLOCK_CIPHER_KEY_BYTES,
    CCM_STAR_NONCE_BYTES = 13,
    CCM_STAR_TAG_BYTES = 8
};

typedef struct {
    block_cipher_ctx cipher;
} ccm_star_ctx;

void ccm_star_init(ccm_star_ctx *ctx, const uint8_t *key);
crypto_status ccm_star_encrypt(const ccm_star_ctx *ctx, const aead_message *m);
crypto_status ccm_star_decrypt(const ccm_star_ctx *ctx, const aead_message *m);

#endif
