#include "grain_v1.h"

/* Runs 16 steps for each of `words` words of key stream, which `feedback` (all ones or zero) also
   feeds into the registers; window is &ctx->b[ctx->at]. In steps.S. */
void grain_v1_steps(uint16_t *window, uint16_t *keystream, unsigned words, uint16_t feedback);

/* Makes room and generates at most `wanted` words; returns how many. */
static unsigned run(grain_v1_ctx *ctx, uint16_t *keystream, size_t wanted, uint16_t feedback) {
    if (ctx->at == GRAIN_V1_ROOM) {
        for (unsigned i = 0; i < 5; i++) {
            ctx->b[i] = ctx->b[GRAIN_V1_ROOM + i];
            ctx->s[i] = ctx->s[GRAIN_V1_ROOM + i];
        }
        ctx->at = 0;
    }
    unsigned words = GRAIN_V1_ROOM - ctx->at;
    if (words > wanted)
        words = (unsigned)wanted;
    grain_v1_steps(ctx->b + ctx->at, keystream, words, feedback);
    ctx->at = (uint8_t)(ctx->at + words);
    return words;
}

void grain_v1_init(grain_v1_ctx *ctx, const uint8_t *key, const uint8_t *nonce) {
    uint16_t unused[GRAIN_V1_ROOM];
    for (unsigned i = 0; i < 5; i++)
        ctx->b[i] = (uint16_t)(key[2 * i] | (unsigned)key[2 * i + 1] << 8);
    for (unsigned i = 0; i < 4; i++)
        ctx->s[i] = (uint16_t)(nonce[2 * i] | (unsigned)nonce[2 * i + 1] << 8);
    ctx->s[4] = 0xffff;
    ctx->at = 0;
    ctx->has_byte = 0;
    run(ctx, unused, 160 / 16, 0xffff);
    crypto_wipe(unused, sizeof unused);
}

void grain_v1_encrypt(grain_v1_ctx *ctx, uint8_t *out, const uint8_t *in, size_t length) {
    uint16_t keystream[GRAIN_V1_ROOM];
    if (ctx->has_byte && length > 0) {
        *out++ = *in++ ^ ctx->byte;
        length--;
        ctx->has_byte = 0;
    }
    while (length > 0) {
        unsigned words = run(ctx, keystream, (length >> 1) + (length & 1), 0);
        const uint16_t *z = keystream;
        for (; words > 0; words--, z++) {
            *out++ = (uint8_t)(*in++ ^ *z);
            length--;
            uint8_t high = (uint8_t)(*z >> 8);
            if (length == 0) { /* only after the last word of a message of odd length */
                ctx->byte = high;
                ctx->has_byte = 1;
                break;
            }
            *out++ = *in++ ^ high;
            length--;
        }
    }
    crypto_wipe(keystream, sizeof keystream);
}
