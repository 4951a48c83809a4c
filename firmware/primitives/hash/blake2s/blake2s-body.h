/* Streaming over blake2s_compress; included by one C file of each implementation. */
#include "blake2s.h"

static const uint32_t blake2s_iv[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                       0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

void blake2s_init(blake2s_ctx *ctx) {
    __builtin_memcpy(ctx->h, blake2s_iv, sizeof ctx->h);
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
    __builtin_memcpy(ctx->block, data, length);
    ctx->fill = (unsigned)length;
}

void blake2s_final(blake2s_ctx *ctx, uint8_t *digest) {
    blake2s_count(ctx, ctx->fill);
    if (ctx->fill < BLAKE2S_BLOCK_BYTES)
        __builtin_memset(ctx->block + ctx->fill, 0, BLAKE2S_BLOCK_BYTES - ctx->fill);
    blake2s_compress(ctx->h, ctx->block, ctx->t, 1);
    __builtin_memcpy(digest, ctx->h, BLAKE2S_DIGEST_BYTES); /* all cores are little-endian */
    crypto_wipe_words(ctx->h, 8);
    crypto_wipe_words(ctx->block, BLAKE2S_BLOCK_BYTES / 4);
}
