/* TLS_AES_128_CCM_SHA256 and TLS_AES_128_CCM_8_SHA256 (RFC 8446, appendix B.4). */
#ifndef SUITE_H
#define SUITE_H

#include "ccm.h"

#define SUITE (DTLS13_TAG_BYTES == 8 ? 0x1305 : 0x1304)

typedef ccm_ctx suite_ctx;

static inline void suite_init(suite_ctx *ctx, const uint8_t *key) {
    ccm_init(ctx, key);
}

static inline crypto_status suite_encrypt(const suite_ctx *ctx, const aead_message *m) {
    return ccm_encrypt(ctx, m);
}

static inline crypto_status suite_decrypt(const suite_ctx *ctx, const aead_message *m) {
    return ccm_decrypt(ctx, m);
}

#endif
