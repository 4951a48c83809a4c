/* Streaming over blake2s_compress; included by one C file of each implementation. */
#include "blake2s.h"

static const uint32_t blake2s_iv[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                       0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

void blake2s_init(blake2s_ctx *ctx) {
    for (unsigned i = 0; i < 8; i++)
        ctx->h[i] = blake2s_iv[i];
    ctx->h[0] ^= 0x01010000 ^ BLAKE2S_DIGEST_BYTES; /* RFC 7693, section 2.5: no key */
    ctx->t[0] = 0;
    ctx->t[1] = 0;
    ctx->fill = 0;
}

static void blake2s_count(blake2s_ctx *ctx, unsigned bytes) {
    ctx->t[0] += bytes;
    ctx->t[1] += ctx->t[0] < bytes;
}

/* The last block is compressed with a flag, so a full block waits until more data comes. */
void blake2s_update(blake2s_ctx *ctx, const uint8_t *data, size_t length) {
    if (ctx->fill > 0) {
        while (ctx->fill < BLAKE2S_BLOCK_BYTES && length > 0) {
            ctx->block[ctx->fill++] = *data++;
            length--;
        }
        if (length == 0)
            return;
        blake2s_count(ctx, BLAKE2S_BLOCK_BYTES);
        blake2s_compress(ctx->h, ctx->block, ctx->t, 0);
    }
    for (; length > BLAKE2S_BLOCK_BYTES; length -= BLAKE2S_BLOCK_BYTES) {
        blake2s_count(ctx, BLAKE2S_BLOCK_BYTES);
        blake2s_compress(ctx->h, data, ctx->t, 0);
        data += BLAKE2S_BLOCK_BYTES;
    }
    for (unsigned i = 0; i < length; i++)
        ctx->block[i] = data[i];
    ctx->fill = (unsigned)length;
}

void blake2s_final(blake2s_ctx *ctx, uint8_t *digest) {
    blake2s_count(ctx, ctx->fill);
    while (ctx->fill < BLAKE2S_BLOCK_BYTES)
        ctx->block[ctx->fill++] = 0;
    blake2s_compress(ctx->h, ctx->block, ctx->t, 1);
    for (unsigned i = 0; i < 8; i++) {
        uint32_t word = ctx->h[i];
        *digest++ = (uint8_t)word;
        *digest++ = (uint8_t)(word >> 8);
        *digest++ = (uint8_t)(word >> 16);
        *digest++ = (uint8_t)(word >> 24);
    }
    crypto_wipe(ctx, sizeof *ctx);
}
