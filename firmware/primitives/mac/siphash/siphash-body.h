/* Streaming over siphash_compress; included by one C file of each implementation. */
#include "siphash.h"

static uint64_t load(const uint8_t *in) {
#ifdef __ARM_FEATURE_UNALIGNED
    return (uint64_t)crypto_load_word(in + 4) << 32 | crypto_load_word(in);
#else
    uint64_t word = 0;
    for (unsigned i = 8; i-- > 0;)
        word = word << 8 | in[i];
    return word;
#endif
}

crypto_status siphash_init(siphash_ctx *ctx, const uint8_t *key, size_t key_length) {
    if (key_length != SIPHASH_KEY_BYTES)
        return CRYPTO_BAD_LENGTH;
    uint64_t k0 = load(key), k1 = load(key + 8);
    ctx->v[0] = k0 ^ 0x736f6d6570736575;
    ctx->v[1] = k1 ^ 0x646f72616e646f6d;
    ctx->v[2] = k0 ^ 0x6c7967656e657261;
    ctx->v[3] = k1 ^ 0x7465646279746573;
    ctx->used = 0;
    ctx->length = 0;
    return CRYPTO_OK;
}

void siphash_update(siphash_ctx *ctx, const uint8_t *data, size_t length) {
    ctx->length = (uint8_t)(ctx->length + length);
    for (; length > 0 && (ctx->used > 0 || length < 8); length--) {
        ctx->block[ctx->used++] = *data++;
        if (ctx->used == 8) {
            siphash_compress(ctx->v, ctx->block, 1);
            ctx->used = 0;
        }
    }
    if (length > 0) {
        siphash_compress(ctx->v, data, length / 8);
        data += length - length % 8;
        for (length %= 8; length > 0; length--)
            ctx->block[ctx->used++] = *data++;
    }
}

#ifdef SIPHASH_FINISH
void siphash_final(siphash_ctx *ctx, uint8_t *tag) {
    uint64_t last = load(ctx->block) & (((uint64_t)1 << 8 * ctx->used) - 1);
    uint64_t result = siphash_finish(ctx->v, last | (uint64_t)ctx->length << 56);
    crypto_store_word(tag, (uint32_t)result);
    crypto_store_word(tag + 4, (uint32_t)(result >> 32));
    crypto_wipe(ctx->block, sizeof ctx->block);
    ctx->used = 0;
    ctx->length = 0;
}
#else
void siphash_final(siphash_ctx *ctx, uint8_t *tag) {
    static const uint8_t zeros[16];
    while (ctx->used < 7)
        ctx->block[ctx->used++] = 0;
    ctx->block[7] = ctx->length;
    siphash_compress(ctx->v, ctx->block, 1);
    ctx->v[2] ^= 0xff;
    siphash_compress(ctx->v, zeros, 2); /* four rounds */
    uint64_t result = ctx->v[0] ^ ctx->v[1] ^ ctx->v[2] ^ ctx->v[3];
    for (unsigned i = 0; i < 8; i++, result >>= 8)
        tag[i] = (uint8_t)result;
    crypto_wipe(ctx, sizeof *ctx);
}
#endif
