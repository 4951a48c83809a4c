#include "wired.h"

void wired_init(wired_ctx *ctx, const uint8_t *key, const uint8_t *iv) {
    (void)ctx;
    (void)key;
    (void)iv;
}

crypto_status wired_encrypt(wired_ctx *ctx, uint8_t *out, const uint8_t *in, size_t length) {
    (void)ctx;
    (void)out;
    (void)in;
    (void)length;
    return CRYPTO_OK;
}

crypto_status wired_decrypt(wired_ctx *ctx, uint8_t *out, const uint8_t *in, size_t length) {
    (void)ctx;
    (void)out;
    (void)in;
    (void)length;
    return CRYPTO_OK;
}
