#include "trivium.h"

static uint32_t load(const uint8_t *p) {
    return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

static void store(uint8_t *p, uint32_t word) {
    p[0] = (uint8_t)word;
    p[1] = (uint8_t)(word >> 8);
    p[2] = (uint8_t)(word >> 16);
    p[3] = (uint8_t)(word >> 24);
}

/* The k-th newest bit of a register of `words` words, in this and the next 31 steps; k is above 64
   and not a multiple of 32. */
__attribute__((always_inline)) static inline uint32_t tap(const uint32_t *r, unsigned words,
                                                          unsigned k) {
    unsigned at = words - 1 - k / 32;
    return r[at] >> (32 - k % 32) | r[at + 1] << k % 32;
}

/* 32 steps (specification, section 2.1): no tap is at one of the 65 newest bits. */
__attribute__((always_inline)) static inline uint32_t steps(trivium_state *s) {
    uint32_t t1 = tap(s->a, 3, 66) ^ tap(s->a, 3, 93);
    uint32_t t2 = tap(s->b, 3, 162 - 93) ^ tap(s->b, 3, 177 - 93);
    uint32_t t3 = tap(s->c, 4, 243 - 177) ^ tap(s->c, 4, 288 - 177);
    uint32_t z = t1 ^ t2 ^ t3;
    t1 ^= (tap(s->a, 3, 91) & tap(s->a, 3, 92)) ^ tap(s->b, 3, 171 - 93);
    t2 ^= (tap(s->b, 3, 175 - 93) & tap(s->b, 3, 176 - 93)) ^ tap(s->c, 4, 264 - 177);
    t3 ^= (tap(s->c, 4, 286 - 177) & tap(s->c, 4, 287 - 177)) ^ tap(s->a, 3, 69);
    s->a[0] = s->a[1], s->a[1] = s->a[2], s->a[2] = t3;
    s->b[0] = s->b[1], s->b[1] = s->b[2], s->b[2] = t1;
    s->c[0] = s->c[1], s->c[1] = s->c[2], s->c[2] = s->c[3], s->c[3] = t2;
    return z;
}

void trivium_init(trivium_ctx *ctx, const uint8_t *key, const uint8_t *nonce) {
    trivium_state s = {
        .a = {(uint32_t)key[1] << 24 | (uint32_t)key[0] << 16, load(key + 2), load(key + 6)},
        .b = {(uint32_t)nonce[1] << 24 | (uint32_t)nonce[0] << 16, load(nonce + 2),
              load(nonce + 6)},
        .c = {(uint32_t)0xe << 16}}; /* s_286 to s_288 */
    for (unsigned i = 0; i < 4 * 288 / 32; i++)
        steps(&s);
    ctx->state = s;
    ctx->left = 0;
}

void trivium_encrypt(trivium_ctx *ctx, uint8_t *out, const uint8_t *in, size_t length) {
    for (; ctx->left > 0 && length > 0; length--, ctx->left--, ctx->stream >>= 8)
        *out++ = (uint8_t)(*in++ ^ ctx->stream);
    if (length == 0)
        return;
    trivium_state s = ctx->state; /* a local copy, which no store to out can change */
    while (length > 0) {
        uint32_t stream = steps(&s);
        if (length < 4) {
            ctx->stream = stream;
            ctx->left = 4;
            for (; length > 0; length--, ctx->left--, ctx->stream >>= 8)
                *out++ = (uint8_t)(*in++ ^ ctx->stream);
            break;
        }
        store(out, load(in) ^ stream);
        length -= 4, out += 4, in += 4;
    }
    ctx->state = s;
}
