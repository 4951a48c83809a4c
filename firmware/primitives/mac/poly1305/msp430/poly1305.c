#include "poly1305.h"

enum { WORDS = 9 };

/* h = (h + block + top 2^128) r, for each block. */
void poly1305_blocks(poly1305_ctx *ctx, const uint8_t *data, size_t blocks, unsigned top);

crypto_status poly1305_init(poly1305_ctx *ctx, const uint8_t *key, size_t key_length) {
    if (key_length != POLY1305_KEY_BYTES)
        return CRYPTO_BAD_LENGTH;
    for (unsigned i = 0; i < 8; i++) {
        /* RFC 8439, section 2.5.1: bytes 3, 7, 11, 15 below 16 and bytes 4, 8, 12 divisible by 4.
         */
        uint16_t clamp = i % 2 == 1 ? 0x0fff : i > 0 ? 0xfffc : 0xffff;
        ctx->r[i] = (uint16_t)(key[2 * i] | (unsigned)key[2 * i + 1] << 8) & clamp;
    }
    for (unsigned i = 0; i < 16; i++)
        ctx->s[i] = key[16 + i];
    for (unsigned i = 0; i < WORDS; i++)
        ctx->h[i] = 0;
    ctx->used = 0;
    return CRYPTO_OK;
}

void poly1305_update(poly1305_ctx *ctx, const uint8_t *data, size_t length) {
    unsigned used = ctx->used;
    if (used > 0) {
        for (; length > 0 && used < 16; length--)
            ctx->block[used++] = *data++;
        if (used == 16) {
            poly1305_blocks(ctx, ctx->block, 1, 1);
            used = 0;
        }
    }
    if (length >= 16) {
        poly1305_blocks(ctx, data, length / 16, 1);
        data += length / 16 * 16;
        length %= 16;
    }
    for (; length > 0; length--)
        ctx->block[used++] = *data++;
    ctx->used = (uint8_t)used;
}

/* h += addend; returns the carry out of bit 130. h stays below 2^132. */
static unsigned add(uint16_t *sum, const uint16_t *h, unsigned addend) {
    uint32_t carry = addend;
    for (unsigned i = 0; i < WORDS; i++) {
        carry += h[i];
        sum[i] = (uint16_t)carry;
        carry >>= 16;
    }
    unsigned over = sum[WORDS - 1] >> 2;
    sum[WORDS - 1] &= 3;
    return over;
}

void poly1305_final(poly1305_ctx *ctx, uint8_t *tag) {
    if (ctx->used > 0) {
        ctx->block[ctx->used] = 1;
        for (unsigned i = ctx->used + 1u; i < 16; i++)
            ctx->block[i] = 0;
        poly1305_blocks(ctx, ctx->block, 1, 0);
    }

    /* 2^130 is 5: one step brings h below 2^130 + 5, and a second one below 2^130. Then h - p = h +
       5 - 2^130 is taken if h + 5 reaches 2^130. */
    uint16_t reduced[WORDS];
    unsigned over = add(ctx->h, ctx->h, 0);
    over = add(ctx->h, ctx->h, 5 * over);
    over = add(ctx->h, ctx->h, 5 * over);
    uint16_t take = (uint16_t)crypto_mask(add(reduced, ctx->h, 5));

    unsigned sum = 0;
    for (unsigned i = 0; i < 16; i++) {
        uint16_t word = (uint16_t)((ctx->h[i / 2] & ~take) | (reduced[i / 2] & take));
        sum += (i % 2 == 1 ? word >> 8 : word & 0xff) + ctx->s[i];
        tag[i] = (uint8_t)sum;
        sum >>= 8;
    }
    crypto_wipe(reduced, sizeof reduced);
    crypto_wipe(ctx, sizeof *ctx);
}
