/* CCM*'s functions over ccm_seal and ccm_open, which must be defined before this is included. */
#ifndef CCM_STAR_FUNCTIONS_H
#define CCM_STAR_FUNCTIONS_H

void ccm_star_init(ccm_star_ctx *ctx, const uint8_t *key) {
    block_cipher_init(&ctx->cipher, key);
}

/* IEEE 802.15.4-2006: annex B, with a nonce of 13 bytes (7.6), and table 95 (MIC lengths). */
static int lengths_allowed(const aead_message *m) {
    return m->nonce_length == CCM_STAR_NONCE_BYTES &&
           (m->tag_length == 0 || m->tag_length == 4 || m->tag_length == 8 ||
            m->tag_length == 16) &&
           ccm_length_fits(m);
}

crypto_status ccm_star_encrypt(const ccm_star_ctx *ctx, const aead_message *m) {
    if (!lengths_allowed(m))
        return CRYPTO_BAD_LENGTH;
    return ccm_seal(&ctx->cipher, m);
}

crypto_status ccm_star_decrypt(const ccm_star_ctx *ctx, const aead_message *m) {
    if (!lengths_allowed(m))
        return CRYPTO_BAD_LENGTH;
    return ccm_open(&ctx->cipher, m);
}

#endif
