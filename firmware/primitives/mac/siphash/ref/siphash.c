#include "siphash.h"

static uint64_t rotate_left(uint64_t x, unsigned n) {
    return x << n | x >> (64 - n);
}

static uint64_t load(const uint8_t *in) {
    uint64_t word = 0;
    for (unsigned i = 8; i-- > 0;)
        word = word << 8 | in[i];
    return word;
}

/* SipRound, figure 2.1 of the paper. */
static void sip_rounds(uint64_t v[4], unsigned rounds) {
    uint64_t v0 = v[0], v1 = v[1], v2 = v[2], v3 = v[3];
    for (; rounds > 0; rounds--) {
        v0 += v1;
        v2 += v3;
        v1 = rotate_left(v1, 13) ^ v0;
        v3 = rotate_left(v3, 16) ^ v2;
        v0 = rotate_left(v0, 32);
        v2 += v1;
        v0 += v3;
        v1 = rotate_left(v1, 17) ^ v2;
        v3 = rotate_left(v3, 21) ^ v0;
        v2 = rotate_left(v2, 32);
    }
    v[0] = v0;
    v[1] = v1;
    v[2] = v2;
    v[3] = v3;
}

static void compress(uint64_t v[4], const uint8_t *block) {
    uint64_t m = load(block);
    v[3] ^= m;
    sip_rounds(v, 2);
    v[0] ^= m;
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
    for (; length > 0; length--) {
        ctx->block[ctx->used++] = *data++;
        if (ctx->used == 8) {
            compress(ctx->v, ctx->block);
            ctx->used = 0;
        }
    }
}

void siphash_final(siphash_ctx *ctx, uint8_t *tag) {
    while (ctx->used < 7)
        ctx->block[ctx->used++] = 0;
    ctx->block[7] = ctx->length;
    compress(ctx->v, ctx->block);
    ctx->v[2] ^= 0xff;
    sip_rounds(ctx->v, 4);
    uint64_t result = ctx->v[0] ^ ctx->v[1] ^ ctx->v[2] ^ ctx->v[3];
    for (unsigned i = 0; i < 8; i++, result >>= 8)
        tag[i] = (uint8_t)result;
    crypto_wipe(ctx, sizeof *ctx);
}
