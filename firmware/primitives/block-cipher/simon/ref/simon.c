#include "simon.h"

static uint32_t rotate_right(uint32_t x, unsigned n) {
    return x >> n | x << (32 - n);
}

static uint32_t rotate_left(uint32_t x, unsigned n) {
    return x << n | x >> (32 - n);
}

static uint32_t load(const uint8_t *in) {
    return in[0] | (uint32_t)in[1] << 8 | (uint32_t)in[2] << 16 | (uint32_t)in[3] << 24;
}

static void store(uint8_t *out, uint32_t word) {
    for (unsigned i = 0; i < 4; i++, word >>= 8)
        out[i] = (uint8_t)word;
}

void simon_init(simon_ctx *ctx, const uint8_t *key) {
    /* The sequence z3, first bit lowest; the schedule uses 40 of its 62 bits. */
    static const uint8_t z3[5] = {0xdb, 0x35, 0xa6, 0x07, 0x12};
    uint32_t *k = ctx->round_keys;
    for (unsigned i = 0; i < 4; i++)
        k[i] = load(key + 4 * i);
    for (unsigned i = 4; i < SIMON_ROUNDS; i++) {
        uint32_t t = rotate_right(k[i - 1], 3) ^ k[i - 3];
        k[i] = ~k[i - 4] ^ t ^ rotate_right(t, 1) ^ 3 ^ (z3[(i - 4) / 8] >> ((i - 4) % 8) & 1);
    }
}

static uint32_t f(uint32_t x) {
    return (rotate_left(x, 1) & rotate_left(x, 8)) ^ rotate_left(x, 2);
}

/* The first word of the text, y, is the first four bytes, as in the implementation guide. */
void simon_encrypt(const simon_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) {
    for (; blocks > 0; blocks--, in += SIMON_BLOCK_BYTES, out += SIMON_BLOCK_BYTES) {
        uint32_t y = load(in), x = load(in + 4);
        for (unsigned i = 0; i < SIMON_ROUNDS; i += 2) {
            y ^= f(x) ^ ctx->round_keys[i];
            x ^= f(y) ^ ctx->round_keys[i + 1];
        }
        store(out, y);
        store(out + 4, x);
    }
}

void simon_decrypt(const simon_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) {
    for (; blocks > 0; blocks--, in += SIMON_BLOCK_BYTES, out += SIMON_BLOCK_BYTES) {
        uint32_t y = load(in), x = load(in + 4);
        for (unsigned i = SIMON_ROUNDS; i > 0; i -= 2) {
            x ^= f(y) ^ ctx->round_keys[i - 1];
            y ^= f(x) ^ ctx->round_keys[i - 2];
        }
        store(out, y);
        store(out + 4, x);
    }
}
