#include "ecb.h"

void ecb_init(ecb_ctx *ctx, const uint8_t *key, const uint8_t *iv) {
    (void)iv;
    block_cipher_init(&ctx->cipher, key);
}

crypto_status ecb_encrypt(ecb_ctx *ctx, uint8_t *out, const uint8_t *in, size_t length) {
    if (length % BLOCK_CIPHER_BLOCK_BYTES != 0)
        return CRYPTO_BAD_LENGTH;
    block_cipher_encrypt(&ctx->cipher, out, in, length / BLOCK_CIPHER_BLOCK_BYTES);
    return CRYPTO_OK;
}

crypto_status ecb_decrypt(ecb_ctx *ctx, uint8_t *out, const uint8_t *in, size_t length) {
    if (length % BLOCK_CIPHER_BLOCK_BYTES != 0)
        return CRYPTO_BAD_LENGTH;
    block_cipher_decrypt(&ctx->cipher, out, in, length / BLOCK_CIPHER_BLOCK_BYTES);
    return CRYPTO_OK;
}
