#include "hmac.h"

_Static_assert((int)HASH_DIGEST_BYTES <= (int)HASH_BLOCK_BYTES, "a hashed key fits a block");

/* FIPS 198-1, section 4, steps 1 to 6. */
crypto_status hmac_init(hmac_ctx *ctx, const uint8_t *key, size_t key_length) {
    uint8_t block[HASH_BLOCK_BYTES] = {0};
    if (key_length > HASH_BLOCK_BYTES) {
        hash_init(&ctx->inner);
        hash_update(&ctx->inner, key, key_length);
        hash_final(&ctx->inner, block);
    } else {
        for (size_t i = 0; i < key_length; i++)
            block[i] = key[i];
    }
    for (unsigned i = 0; i < HASH_BLOCK_BYTES; i++)
        block[i] ^= 0x36; /* ipad */
    hash_init(&ctx->inner);
    hash_update(&ctx->inner, block, HASH_BLOCK_BYTES);
    for (unsigned i = 0; i < HASH_BLOCK_BYTES; i++)
        block[i] ^= 0x36 ^ 0x5c; /* opad */
    hash_init(&ctx->outer);
    hash_update(&ctx->outer, block, HASH_BLOCK_BYTES);
    crypto_wipe(block, sizeof block);
    return CRYPTO_OK;
}

void hmac_update(hmac_ctx *ctx, const uint8_t *data, size_t length) {
    hash_update(&ctx->inner, data, length);
}

void hmac_final(hmac_ctx *ctx, uint8_t *tag) {
    uint8_t digest[HASH_DIGEST_BYTES];
    hash_final(&ctx->inner, digest);
    hash_update(&ctx->outer, digest, sizeof digest);
    hash_final(&ctx->outer, tag);
    crypto_wipe(digest, sizeof digest);
    crypto_wipe(ctx, sizeof *ctx);
}
