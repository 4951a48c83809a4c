/* CCM's functions over ccm_seal and ccm_open, which must be defined before this is included. */
#ifndef CCM_FUNCTIONS_H
#define CCM_FUNCTIONS_H

void ccm_init(ccm_ctx *ctx, const uint8_t *key) {
    block_cipher_init(&ctx->cipher, key);
}

/* SP 800-38C, A.1. */
static int lengths_allowed(const aead_message *m) {
    return m->nonce_length >= 7 && m->nonce_length <= 13 && m->tag_length >= 4 &&
           m->tag_length <= 16 && m->tag_length % 2 == 0 && ccm_length_fits(m);
}

crypto_status ccm_encrypt(const ccm_ctx *ctx, const aead_message *m) {
    if (!lengths_allowed(m))
        return CRYPTO_BAD_LENGTH;
    return ccm_seal(&ctx->cipher, m);
}

crypto_status ccm_decrypt(const ccm_ctx *ctx, const aead_message *m) {
    if (!lengths_allowed(m))
        return CRYPTO_BAD_LENGTH;
    return ccm_open(&ctx->cipher, m);
}

#endif
