#include "cbc_mac.h"

crypto_status cbc_mac_init(cbc_mac_ctx *ctx, const uint8_t *key, size_t key_length) {
    if (key_length != CBC_MAC_KEY_BYTES)
        return CRYPTO_BAD_LENGTH;
    block_cipher_init(&ctx->cipher, key);
    for (unsigned i = 0; i < CBC_MAC_TAG_BYTES; i++)
        ctx->mac[i] = 0;
    ctx->used = 0;
    return CRYPTO_OK;
}

void cbc_mac_update(cbc_mac_ctx *ctx, const uint8_t *data, size_t length) {
    unsigned used = ctx->used;
    for (; length > 0; length--) {
        if (used == CBC_MAC_TAG_BYTES) {
            block_cipher_encrypt(&ctx->cipher, ctx->mac, ctx->mac, 1);
            used = 0;
        }
        ctx->mac[used++] ^= *data++;
    }
    ctx->used = (uint8_t)used;
}

void cbc_mac_final(cbc_mac_ctx *ctx, uint8_t *tag) {
    block_cipher_encrypt(&ctx->cipher, tag, ctx->mac, 1);
    crypto_wipe(ctx, sizeof *ctx);
}
