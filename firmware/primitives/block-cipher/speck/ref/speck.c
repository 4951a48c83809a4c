#include "speck.h"

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

/* The round function, which the key schedule also uses. */
static void round_function(uint32_t *x, uint32_t *y, uint32_t k) {
    *x = (rotate_right(*x, 8) + *y) ^ k;
    *y = rotate_left(*y, 3) ^ *x;
}

void speck_init(speck_ctx *ctx, const uint8_t *key) {
    uint32_t k = load(key), l[3] = {load(key + 4), load(key + 8), load(key + 12)};
    for (unsigned i = 0;; i++) {
        ctx->round_keys[i] = k;
        if (i == SPECK_ROUNDS - 1)
            break;
        round_function(&l[i % 3], &k, i);
    }
    crypto_wipe(l, sizeof l);
}

/* The first word of the text, y, is the first four bytes, as in the implementation guide. */
void speck_encrypt(const speck_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) {
    for (; blocks > 0; blocks--, in += SPECK_BLOCK_BYTES, out += SPECK_BLOCK_BYTES) {
        uint32_t y = load(in), x = load(in + 4);
        for (unsigned i = 0; i < SPECK_ROUNDS; i++)
            round_function(&x, &y, ctx->round_keys[i]);
        store(out, y);
        store(out + 4, x);
    }
}

void speck_decrypt(const speck_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) {
    for (; blocks > 0; blocks--, in += SPECK_BLOCK_BYTES, out += SPECK_BLOCK_BYTES) {
        uint32_t y = load(in), x = load(in + 4);
        for (unsigned i = SPECK_ROUNDS; i-- > 0;) {
            y = rotate_right(y ^ x, 3);
            x = rotate_left((x ^ ctx->round_keys[i]) - y, 8);
        }
        store(out, y);
        store(out + 4, x);
    }
}
