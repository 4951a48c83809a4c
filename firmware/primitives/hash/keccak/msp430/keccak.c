#include "keccak.h"

/* Keccak-p[1600, 24] of FIPS 202, section 3.3; in keccak.S. */
void keccak_f1600(keccak_lane state[25]);

/* Swaps the bits of x under mask with those n positions higher. */
static uint16_t exchange_within(uint16_t x, unsigned n, uint16_t mask) {
    uint16_t t = (uint16_t)((x >> n ^ x) & mask);
    return (uint16_t)(x ^ t ^ t << n);
}

/* Swaps the bits of b under mask with those of a n positions higher. */
static void exchange(uint16_t *a, uint16_t *b, unsigned n, uint16_t mask) {
    uint16_t t = (uint16_t)((*a >> n ^ *b) & mask);
    *b ^= t;
    *a ^= (uint16_t)(t << n);
}

/* A bit's number has six bits: word (5 4), position (3 2 1 0). First swaps (3 2) with (1 0), then
   (5 4) with the new (3 2). */
static void interleave(uint16_t w[4]) {
    for (unsigned i = 0; i < 4; i++)
        w[i] = exchange_within(exchange_within(w[i], 6, 0x00cc), 3, 0x0a0a);
    exchange(&w[0], &w[2], 8, 0x00ff);
    exchange(&w[1], &w[3], 8, 0x00ff);
    exchange(&w[0], &w[1], 4, 0x0f0f);
    exchange(&w[2], &w[3], 4, 0x0f0f);
}

static void deinterleave(uint16_t w[4]) {
    exchange(&w[0], &w[1], 4, 0x0f0f);
    exchange(&w[2], &w[3], 4, 0x0f0f);
    exchange(&w[0], &w[2], 8, 0x00ff);
    exchange(&w[1], &w[3], 8, 0x00ff);
    for (unsigned i = 0; i < 4; i++)
        w[i] = exchange_within(exchange_within(w[i], 6, 0x00cc), 3, 0x0a0a);
}

static void absorb(keccak_lane *lane, const uint8_t bytes[8]) {
    uint16_t w[4];
    for (unsigned i = 0; i < 4; i++)
        w[i] = (uint16_t)(bytes[2 * i] | bytes[2 * i + 1] << 8);
    interleave(w);
    for (unsigned i = 0; i < 4; i++)
        lane->word[i] ^= w[i];
}

void keccak_init(keccak_ctx *ctx) {
    for (unsigned i = 0; i < 25; i++)
        for (unsigned j = 0; j < 4; j++)
            ctx->state[i].word[j] = 0;
    ctx->fill = 0;
}

static void count(keccak_ctx *ctx, unsigned bytes) {
    ctx->fill += bytes;
    if (ctx->fill == KECCAK_BLOCK_BYTES) {
        keccak_f1600(ctx->state);
        ctx->fill = 0;
    }
}

void keccak_update(keccak_ctx *ctx, const uint8_t *data, size_t length) {
    while (length > 0) {
        if (ctx->fill % 8 == 0 && length >= 8) {
            absorb(&ctx->state[ctx->fill / 8], data);
            data += 8;
            length -= 8;
            count(ctx, 8);
        } else {
            ctx->pending[ctx->fill % 8] = *data++;
            length--;
            if (ctx->fill % 8 == 7)
                absorb(&ctx->state[ctx->fill / 8], ctx->pending);
            count(ctx, 1);
        }
    }
}

void keccak_final(keccak_ctx *ctx, uint8_t *digest) {
    unsigned fill = ctx->fill;
    ctx->pending[fill % 8] = KECCAK_SUFFIX;
    for (unsigned i = fill % 8 + 1; i < 8; i++)
        ctx->pending[i] = 0;
    absorb(&ctx->state[fill / 8], ctx->pending);
    /* The padding's last bit is bit 63 of the rate's last lane. */
    ctx->state[KECCAK_BLOCK_BYTES / 8 - 1].word[3] ^= 0x8000;
    keccak_f1600(ctx->state);
    for (unsigned i = 0; i < KECCAK_DIGEST_BYTES / 8; i++) {
        deinterleave(ctx->state[i].word);
        for (unsigned j = 0; j < 4; j++) {
            *digest++ = (uint8_t)ctx->state[i].word[j];
            *digest++ = (uint8_t)(ctx->state[i].word[j] >> 8);
        }
    }
    crypto_wipe(ctx, sizeof *ctx);
}
