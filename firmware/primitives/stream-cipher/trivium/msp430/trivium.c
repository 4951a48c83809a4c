#include "trivium.h"

/* Runs 16 steps for each of `words` words of key stream; window is &ctx->a[ctx->at]. In steps.S. */
void trivium_steps(uint16_t *window, uint16_t *keystream, unsigned words);

/* Makes room and generates at most `wanted` words; returns how many. */
static unsigned run(trivium_ctx *ctx, uint16_t *keystream, size_t wanted) {
    if (ctx->at == TRIVIUM_ROOM) {
        for (unsigned i = 0; i < 6; i++) {
            ctx->a[i] = ctx->a[TRIVIUM_ROOM + i];
            ctx->b[i] = ctx->b[TRIVIUM_ROOM + i];
            ctx->c[i] = ctx->c[TRIVIUM_ROOM + i];
        }
        ctx->c[6] = ctx->c[TRIVIUM_ROOM + 6];
        ctx->at = 0;
    }
    unsigned words = TRIVIUM_ROOM - ctx->at;
    if (words > wanted)
        words = (unsigned)wanted;
    trivium_steps(ctx->a + ctx->at, keystream, words);
    ctx->at = (uint8_t)(ctx->at + words);
    return words;
}

void trivium_init(trivium_ctx *ctx, const uint8_t *key, const uint8_t *nonce) {
    uint16_t unused[TRIVIUM_ROOM];
    ctx->a[0] = ctx->b[0] = 0;
    for (unsigned i = 0; i < 5; i++) {
        ctx->a[1 + i] = (uint16_t)(key[2 * i] | (unsigned)key[2 * i + 1] << 8);
        ctx->b[1 + i] = (uint16_t)(nonce[2 * i] | (unsigned)nonce[2 * i + 1] << 8);
        ctx->c[1 + i] = 0;
    }
    ctx->c[0] = 0x000e; /* s_286 to s_288 */
    ctx->c[6] = 0;
    ctx->at = 0;
    ctx->has_byte = 0;
    for (unsigned left = 4 * 288 / 16; left > 0;)
        left -= run(ctx, unused, left);
    crypto_wipe(unused, sizeof unused);
}

void trivium_encrypt(trivium_ctx *ctx, uint8_t *out, const uint8_t *in, size_t length) {
    uint16_t keystream[TRIVIUM_ROOM];
    if (ctx->has_byte && length > 0) {
        *out++ = *in++ ^ ctx->byte;
        length--;
        ctx->has_byte = 0;
    }
    while (length > 0) {
        unsigned words = run(ctx, keystream, (length >> 1) + (length & 1));
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
