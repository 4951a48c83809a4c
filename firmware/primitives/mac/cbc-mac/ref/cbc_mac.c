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
    size_t used = ctx->used;
    while (length > 0) {
        if (used == CBC_MAC_TAG_BYTES) {
            block_cipher_encrypt(&ctx->cipher, ctx->mac, ctx->mac, 1);
            used = 0;
        }
        size_t room = CBC_MAC_TAG_BYTES - used, part = length < room ? length : room;
        crypto_xor(ctx->mac + used, ctx->mac + used, data, part);
        used += part;
        data += part;
        length -= part;
    }
    ctx->used = (uint8_t)used;
}

void cbc_mac_final(cbc_mac_ctx *ctx, uint8_t *tag) {
    block_cipher_encrypt(&ctx->cipher, tag, ctx->mac, 1);
    crypto_wipe(ctx, sizeof *ctx);
}
