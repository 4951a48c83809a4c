#include "wired.h"

void wired_init(wired_ctx *ctx, const uint8_t *key) {
    (void)ctx;
    (void)key;
}

crypto_status wired_encrypt(const wired_ctx *ctx, const aead_message *m) {
    (void)ctx;
    (void)m;
    return CRYPTO_OK;
}

crypto_status wired_decrypt(const wired_ctx *ctx, const aead_message *m) {
    (void)ctx;
    (void)m;
    return CRYPTO_OK;
}
