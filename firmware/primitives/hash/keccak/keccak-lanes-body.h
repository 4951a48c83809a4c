/* Whole lanes at a time, over the permutation that keccak.h includes. */
#include "keccak.h"

enum { RATE_LANES = KECCAK_BLOCK_BYTES / 8 };

void keccak_init(keccak_ctx *ctx) {
    for (unsigned i = 0; i < 25; i++)
        ctx->state[i].word[0] = ctx->state[i].word[1] = 0;
    ctx->fill = 0;
}

void keccak_update(keccak_ctx *ctx, const uint8_t *data, size_t length) {
    unsigned fill = ctx->fill;
    while (length > 0) {
        const uint8_t *lane = data;
        unsigned bytes = 8;
        if (fill % 8 != 0 || length < 8) {
            ctx->pending[fill % 8] = *data;
            lane = ctx->pending;
            bytes = 1;
        }
        fill += bytes;
        data += bytes;
        length -= bytes;
        if (fill % 8 == 0)
            keccak_add(ctx->state, fill / 8 - 1, lane);
        if (fill == KECCAK_BLOCK_BYTES) {
            keccak_f1600(ctx->state);
            fill = 0;
        }
    }
    ctx->fill = fill;
}

void keccak_final(keccak_ctx *ctx, uint8_t *digest) {
    unsigned fill = ctx->fill;
    ctx->pending[fill % 8] = KECCAK_SUFFIX;
    for (unsigned i = fill % 8 + 1; i < 8; i++)
        ctx->pending[i] = 0;
    keccak_add(ctx->state, fill / 8, ctx->pending);
    keccak_add_bit63(ctx->state, RATE_LANES - 1);
    keccak_f1600(ctx->state);
    for (unsigned i = 0; i < KECCAK_DIGEST_BYTES / 8; i++)
        keccak_get(ctx->state, i, digest + 8 * i);
    crypto_wipe(ctx, sizeof *ctx);
}
