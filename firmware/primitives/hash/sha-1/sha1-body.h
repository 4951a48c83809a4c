/* Streaming over sha1_compress; included by one C file of each implementation. */
#include "sha1.h"

static void store(uint8_t *out, uint32_t word) {
    for (unsigned i = 4; i-- > 0; word >>= 8)
        out[i] = (uint8_t)word;
}

void sha1_init(sha1_ctx *ctx) {
    static const uint32_t initial[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    for (unsigned i = 0; i < 5; i++)
        ctx->h[i] = initial[i];
    ctx->length = 0;
}

void sha1_update(sha1_ctx *ctx, const uint8_t *data, size_t length) {
    unsigned used = (unsigned)ctx->length % SHA1_BLOCK_BYTES;
    ctx->length += length;
    while (length > 0) {
        if (used == 0 && length >= SHA1_BLOCK_BYTES) {
            sha1_compress(ctx->h, data);
            data += SHA1_BLOCK_BYTES;
            length -= SHA1_BLOCK_BYTES;
            continue;
        }
        ctx->block[used++] = *data++;
        length--;
        if (used == SHA1_BLOCK_BYTES) {
            sha1_compress(ctx->h, ctx->block);
            used = 0;
        }
    }
}

void sha1_final(sha1_ctx *ctx, uint8_t *digest) {
    /* FIPS 180-4, section 5.1.1: a one bit, zeros, the length in 64 bits. */
    uint64_t bits = ctx->length * 8;
    unsigned used = (unsigned)ctx->length % SHA1_BLOCK_BYTES;
    ctx->block[used++] = 0x80;
    if (used > SHA1_BLOCK_BYTES - 8) {
        while (used < SHA1_BLOCK_BYTES)
            ctx->block[used++] = 0;
        sha1_compress(ctx->h, ctx->block);
        used = 0;
    }
    while (used < SHA1_BLOCK_BYTES - 8)
        ctx->block[used++] = 0;
    store(ctx->block + 56, (uint32_t)(bits >> 32));
    store(ctx->block + 60, (uint32_t)bits);
    sha1_compress(ctx->h, ctx->block);
    for (unsigned i = 0; i < 5; i++)
        store(digest + 4 * i, ctx->h[i]);
    crypto_wipe(ctx, sizeof *ctx);
}
