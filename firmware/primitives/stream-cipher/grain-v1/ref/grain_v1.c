#include "grain_v1.h"

static unsigned get(const uint8_t *r, unsigned i) {
    return r[i / 8] >> i % 8 & 1u;
}

/* Moves every bit down by one and enters a new one at the top. */
static void shift(uint8_t *r, unsigned bit) {
    for (unsigned i = 0; i < 9; i++)
        r[i] = (uint8_t)(r[i] >> 1 | (unsigned)r[i + 1] << 7);
    r[9] = (uint8_t)(r[9] >> 1 | bit << 7);
}

/* Runs one step; returns the key stream bit, which `feedback` also feeds into both registers. */
static unsigned step(grain_v1_ctx *ctx, unsigned feedback) {
    const uint8_t *b = ctx->b, *s = ctx->s;

    /* h(x) of section 2, and the output. */
    unsigned x0 = get(s, 3), x1 = get(s, 25), x2 = get(s, 46), x3 = get(s, 64), x4 = get(b, 63);
    unsigned h = x1 ^ x4 ^ (x0 & x3) ^ (x2 & x3) ^ (x3 & x4) ^ (x0 & x1 & x2) ^ (x0 & x2 & x3) ^
                 (x0 & x2 & x4) ^ (x1 & x2 & x4) ^ (x2 & x3 & x4);
    unsigned z =
        get(b, 1) ^ get(b, 2) ^ get(b, 4) ^ get(b, 10) ^ get(b, 31) ^ get(b, 43) ^ get(b, 56) ^ h;

    unsigned f = get(s, 62) ^ get(s, 51) ^ get(s, 38) ^ get(s, 23) ^ get(s, 13) ^ get(s, 0);

    unsigned b9 = get(b, 9), b15 = get(b, 15), b21 = get(b, 21), b28 = get(b, 28);
    unsigned b33 = get(b, 33), b37 = get(b, 37), b45 = get(b, 45), b52 = get(b, 52);
    unsigned b60 = get(b, 60), b63 = get(b, 63);
    unsigned g = get(b, 62) ^ b60 ^ b52 ^ b45 ^ b37 ^ b33 ^ b28 ^ b21 ^ get(b, 14) ^ b9 ^
                 get(b, 0) ^ (b63 & b60) ^ (b37 & b33) ^ (b15 & b9) ^ (b60 & b52 & b45) ^
                 (b33 & b28 & b21) ^ (b63 & b45 & b28 & b9) ^ (b60 & b52 & b37 & b33) ^
                 (b63 & b60 & b21 & b15) ^ (b63 & b60 & b52 & b45 & b37) ^
                 (b33 & b28 & b21 & b15 & b9) ^ (b52 & b45 & b37 & b33 & b28 & b21);

    feedback &= z;
    unsigned s0 = get(s, 0);
    shift(ctx->s, f ^ feedback);
    shift(ctx->b, s0 ^ g ^ feedback);
    return z;
}

void grain_v1_init(grain_v1_ctx *ctx, const uint8_t *key, const uint8_t *nonce) {
    for (unsigned i = 0; i < 10; i++) {
        ctx->b[i] = key[i];
        ctx->s[i] = i < 8 ? nonce[i] : 0xff;
    }
    for (unsigned i = 0; i < 160; i++)
        step(ctx, 1);
}

void grain_v1_encrypt(grain_v1_ctx *ctx, uint8_t *out, const uint8_t *in, size_t length) {
    for (; length > 0; length--) {
        unsigned keystream = 0;
        for (unsigned i = 0; i < 8; i++)
            keystream |= step(ctx, 0) << i;
        *out++ = (uint8_t)(*in++ ^ keystream);
    }
}
