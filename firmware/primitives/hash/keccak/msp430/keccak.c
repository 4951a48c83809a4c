#include "keccak.h"

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
            keccak_add(ctx->state, ctx->fill / 8, data);
            data += 8;
            length -= 8;
            count(ctx, 8);
        } else {
            ctx->pending[ctx->fill % 8] = *data++;
            length--;
            if (ctx->fill % 8 == 7)
                keccak_add(ctx->state, ctx->fill / 8, ctx->pending);
            count(ctx, 1);
        }
    }
}

void keccak_final(keccak_ctx *ctx, uint8_t *digest) {
    unsigned fill = ctx->fill;
    ctx->pending[fill % 8] = KECCAK_SUFFIX;
    for (unsigned i = fill % 8 + 1; i < 8; i++)
        ctx->pending[i] = 0;
    keccak_add(ctx->state, fill / 8, ctx->pending);
    keccak_add_bit63(ctx->state, KECCAK_BLOCK_BYTES / 8 - 1);
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
