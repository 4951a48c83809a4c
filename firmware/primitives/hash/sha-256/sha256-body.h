/* Streaming over sha256_compress; included by one C file of each implementation. */
#include "sha256.h"

static const uint32_t initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

void sha256_init(sha256_ctx *ctx) {
    for (unsigned i = 0; i < 8; i++)
        ctx->state[i] = initial[i];
    ctx->length = 0;
}

void sha256_update(sha256_ctx *ctx, const uint8_t *data, size_t length) {
    unsigned fill = (unsigned)ctx->length % SHA256_BLOCK_BYTES;
    ctx->length += length;
    if (fill > 0) {
        while (fill < SHA256_BLOCK_BYTES && length > 0) {
            ctx->block[fill++] = *data++;
            length--;
        }
        if (fill < SHA256_BLOCK_BYTES)
            return;
        sha256_compress(ctx->state, ctx->block, 1);
    }
    if (length >= SHA256_BLOCK_BYTES) {
        sha256_compress(ctx->state, data, length / SHA256_BLOCK_BYTES);
        data += length - length % SHA256_BLOCK_BYTES;
        length %= SHA256_BLOCK_BYTES;
    }
    for (unsigned i = 0; i < length; i++)
        ctx->block[i] = data[i];
}

void sha256_final(sha256_ctx *ctx, uint8_t *digest) {
    unsigned fill = (unsigned)ctx->length % SHA256_BLOCK_BYTES;
    ctx->block[fill++] = 0x80;
    if (fill > SHA256_BLOCK_BYTES - 8) {
        while (fill < SHA256_BLOCK_BYTES)
            ctx->block[fill++] = 0;
        sha256_compress(ctx->state, ctx->block, 1);
        fill = 0;
    }
    while (fill < SHA256_BLOCK_BYTES - 8)
        ctx->block[fill++] = 0;
    uint32_t high = (uint32_t)(ctx->length >> 32), low = (uint32_t)ctx->length;
    high = high << 3 | low >> 29; /* the length in bits */
    low <<= 3;
    for (unsigned i = 0; i < 4; i++) {
        ctx->block[SHA256_BLOCK_BYTES - 5 - i] = (uint8_t)high;
        ctx->block[SHA256_BLOCK_BYTES - 1 - i] = (uint8_t)low;
        high >>= 8;
        low >>= 8;
    }
    sha256_compress(ctx->state, ctx->block, 1);
    for (unsigned i = 0; i < 8; i++) {
        uint32_t word = ctx->state[i];
        *digest++ = (uint8_t)(word >> 24);
        *digest++ = (uint8_t)(word >> 16);
        *digest++ = (uint8_t)(word >> 8);
        *digest++ = (uint8_t)word;
    }
    crypto_wipe(ctx, sizeof *ctx);
}
