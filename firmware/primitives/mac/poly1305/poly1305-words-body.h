/* Over poly1305_blocks, on words of 32 bits. */
#include "poly1305.h"

enum { BLOCK_BYTES = 16 };

/* h = (h + block + top 2^128) r modulo 2^130 - 5 for each block, aligned or not. */
void poly1305_blocks(uint32_t h[5], const uint32_t r[4], const uint8_t *data, size_t blocks,
                     uint32_t top);

static uint32_t load(const uint8_t *bytes) {
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

crypto_status poly1305_init(poly1305_ctx *ctx, const uint8_t *key, size_t key_length) {
    if (key_length != POLY1305_KEY_BYTES)
        return CRYPTO_BAD_LENGTH;
    for (unsigned i = 0; i < 4; i++) {
        /* RFC 8439, section 2.5.1. */
        ctx->r[i] = load(key + 4 * i) & (i ? 0x0ffffffc : 0x0fffffff);
        ctx->s[i] = load(key + 16 + 4 * i);
    }
    for (unsigned i = 0; i < 5; i++)
        ctx->h[i] = 0;
    ctx->used = 0;
    return CRYPTO_OK;
}

void poly1305_update(poly1305_ctx *ctx, const uint8_t *data, size_t length) {
    unsigned used = ctx->used;
    while (length > 0) {
        if (used == 0 && length >= BLOCK_BYTES) {
            size_t blocks = length / BLOCK_BYTES;
            poly1305_blocks(ctx->h, ctx->r, data, blocks, 1);
            data += blocks * BLOCK_BYTES;
            length %= BLOCK_BYTES;
            continue;
        }
        ctx->block[used++] = *data++;
        length--;
        if (used == BLOCK_BYTES) {
            poly1305_blocks(ctx->h, ctx->r, ctx->block, 1, 1);
            used = 0;
        }
    }
    ctx->used = (uint8_t)used;
}

void poly1305_final(poly1305_ctx *ctx, uint8_t *tag) {
    if (ctx->used > 0) {
        ctx->block[ctx->used] = 1;
        for (unsigned i = ctx->used + 1u; i < BLOCK_BYTES; i++)
            ctx->block[i] = 0;
        poly1305_blocks(ctx->h, ctx->r, ctx->block, 1, 0);
    }
    /* h is below 2^130 + 2^129, so at most one subtraction reduces it modulo 2^130 - 5: if needed,
       h + 5 is 2^130 or more, and the part from bit 130 up is dropped. */
    uint32_t less[4];
    uint64_t sum = 5;
    for (unsigned i = 0; i < 4; i++) {
        sum += ctx->h[i];
        less[i] = (uint32_t)sum;
        sum >>= 32;
    }
    uint32_t take = crypto_mask32((ctx->h[4] + (uint32_t)sum) >> 2 & 1);
    sum = 0;
    for (unsigned i = 0; i < 4; i++) {
        sum += (ctx->h[i] & ~take) | (less[i] & take);
        sum += ctx->s[i];
        for (unsigned n = 0; n < 4; n++)
            *tag++ = (uint8_t)(sum >> 8 * n);
        sum >>= 32;
    }
    crypto_wipe_words(less, 4);
    crypto_wipe_words(ctx, sizeof *ctx / 4);
}
