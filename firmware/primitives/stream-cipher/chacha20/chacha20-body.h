/* Streaming over chacha20_block; included by one C file of each implementation. */
#include "chacha20.h"

static uint32_t chacha20_load(const uint8_t *p) {
    return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

void chacha20_init(chacha20_ctx *ctx, const uint8_t *key, const uint8_t *nonce) {
    ctx->state[0] = 0x61707865; /* "expand 32-byte k" */
    ctx->state[1] = 0x3320646e;
    ctx->state[2] = 0x79622d32;
    ctx->state[3] = 0x6b206574;
    for (unsigned i = 0; i < 8; i++)
        ctx->state[4 + i] = chacha20_load(key + 4 * i);
    ctx->state[12] = 0;
    for (unsigned i = 0; i < 3; i++)
        ctx->state[13 + i] = chacha20_load(nonce + 4 * i);
    ctx->used = CHACHA20_BLOCK_BYTES;
}

void chacha20_encrypt(chacha20_ctx *ctx, uint8_t *out, const uint8_t *in, size_t length) {
    while (length > 0) {
        if (ctx->used == CHACHA20_BLOCK_BYTES) {
            chacha20_block(ctx->stream, ctx->state);
            ctx->state[12]++;
            ctx->used = 0;
        }
        const uint8_t *stream = ctx->stream + ctx->used;
        unsigned bytes = CHACHA20_BLOCK_BYTES - ctx->used;
        if (length < bytes)
            bytes = (unsigned)length;
        crypto_xor(out, in, stream, bytes);
        out += bytes;
        in += bytes;
        ctx->used += bytes;
        length -= bytes;
    }
}
