/* TLS_AES_128_GCM_SHA256 (RFC 8446, appendix B.4). */
#ifndef SUITE_H
#define SUITE_H

#include "gcm.h"

#if DTLS13_TAG_BYTES != 16
#error "GCM's tags have 16 bytes"
#endif
#define SUITE 0x1301

typedef gcm_ctx suite_ctx;

static inline void suite_init(suite_ctx *ctx, const uint8_t *key) {
    gcm_init(ctx, key);
}

static inline crypto_status suite_encrypt(const suite_ctx *ctx, const aead_message *m) {
    return gcm_encrypt(ctx, m);
}

static inline crypto_status suite_decrypt(const suite_ctx *ctx, const aead_message *m) {
    return gcm_decrypt(ctx, m);
}

#endif
