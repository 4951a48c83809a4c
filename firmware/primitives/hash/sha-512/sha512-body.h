/* Streaming over sha512_compress; included by one C file of each implementation. */
#include "sha512.h"

static void store(uint8_t *out, uint64_t word) {
    for (unsigned i = 8; i-- > 0; word >>= 8)
        out[i] = (uint8_t)word;
}

void sha512_init(sha512_ctx *ctx) {
    static const uint64_t initial[8] = {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b,
                                        0xa54ff53a5f1d36f1, 0x510e527fade682d1, 0x9b05688c2b3e6c1f,
                                        0x1f83d9abfb41bd6b, 0x5be0cd19137e2179};
    for (unsigned i = 0; i < 8; i++)
        ctx->h[i] = initial[i];
    ctx->length = 0;
}

void sha512_update(sha512_ctx *ctx, const uint8_t *data, size_t length) {
    unsigned used = (unsigned)ctx->length % SHA512_BLOCK_BYTES;
    ctx->length += length;
    while (length > 0) {
        if (used == 0 && length >= SHA512_BLOCK_BYTES) {
            sha512_compress(ctx->h, data);
            data += SHA512_BLOCK_BYTES;
            length -= SHA512_BLOCK_BYTES;
            continue;
        }
        ctx->block[used++] = *data++;
        length--;
        if (used == SHA512_BLOCK_BYTES) {
            sha512_compress(ctx->h, ctx->block);
            used = 0;
        }
    }
}

void sha512_final(sha512_ctx *ctx, uint8_t *digest) {
    /* FIPS 180-4, section 5.1.2: a one bit, zeros, the length in 128 bits. */
    uint64_t bits = ctx->length << 3, overflow = ctx->length >> 61;
    unsigned used = (unsigned)ctx->length % SHA512_BLOCK_BYTES;
    ctx->block[used++] = 0x80;
    if (used > SHA512_BLOCK_BYTES - 16) {
        while (used < SHA512_BLOCK_BYTES)
            ctx->block[used++] = 0;
        sha512_compress(ctx->h, ctx->block);
        used = 0;
    }
    while (used < SHA512_BLOCK_BYTES - 16)
        ctx->block[used++] = 0;
    store(ctx->block + 112, overflow);
    store(ctx->block + 120, bits);
    sha512_compress(ctx->h, ctx->block);
    for (unsigned i = 0; i < 8; i++)
        store(digest + 8 * i, ctx->h[i]);
    crypto_wipe(ctx, sizeof *ctx);
}
