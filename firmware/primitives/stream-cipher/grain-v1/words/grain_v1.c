#include "grain_v1.h"

static uint32_t load(const uint8_t *p) {
    return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

static void store(uint8_t *p, uint32_t word) {
    p[0] = (uint8_t)word;
    p[1] = (uint8_t)(word >> 8);
    p[2] = (uint8_t)(word >> 16);
    p[3] = (uint8_t)(word >> 24);
}

/* Bit i of a register, in this and the next 15 steps, in the low half of a word. */
__attribute__((always_inline)) static inline uint32_t tap(const uint32_t *r, unsigned i) {
    uint32_t low = r[i / 32] >> i % 32;
    return i % 32 > 16 && i < 64 ? low | r[i / 32 + 1] << (32 - i % 32) : low;
}

/* Moves all bits down by 16 and enters new ones at the top. */
static void shift(uint32_t *r, uint32_t bits) {
    r[0] = r[0] >> 16 | r[1] << 16;
    r[1] = r[1] >> 16 | r[2] << 16;
    r[2] = bits & 0xffff;
}

/* Runs 16 steps; returns the key stream in the low half of a word, which `feedback` (all ones or
   zero) also feeds into both registers. No tap is at one of the 15 newest bits. */
__attribute__((always_inline)) static inline uint32_t steps(grain_v1_state *state,
                                                            uint32_t feedback) {
    const uint32_t *b = state->b, *s = state->s;

    /* h(x) of section 2, with x0 to x3 factored out, and the output. */
    uint32_t x0 = tap(s, 3), x1 = tap(s, 25), x2 = tap(s, 46), x3 = tap(s, 64), x4 = tap(b, 63);
    uint32_t h =
        x1 ^ x4 ^ (x3 & (x0 ^ x2 ^ x4)) ^ (x2 & ((x0 & (x1 ^ x3 ^ x4)) ^ (x4 & (x1 ^ x3))));
    uint32_t z =
        tap(b, 1) ^ tap(b, 2) ^ tap(b, 4) ^ tap(b, 10) ^ tap(b, 31) ^ tap(b, 43) ^ tap(b, 56) ^ h;

    uint32_t f = tap(s, 62) ^ tap(s, 51) ^ tap(s, 38) ^ tap(s, 23) ^ tap(s, 13) ^ tap(s, 0);

    uint32_t b9 = tap(b, 9), b15 = tap(b, 15), b21 = tap(b, 21), b28 = tap(b, 28);
    uint32_t b33 = tap(b, 33), b37 = tap(b, 37), b45 = tap(b, 45), b52 = tap(b, 52);
    uint32_t b60 = tap(b, 60), b63 = x4;
    uint32_t g = tap(b, 62) ^ b60 ^ b52 ^ b45 ^ b37 ^ b33 ^ b28 ^ b21 ^ tap(b, 14) ^ b9 ^
                 tap(b, 0) ^ (b63 & b60) ^ (b37 & b33) ^ (b15 & b9) ^ (b60 & b52 & b45) ^
                 (b33 & b28 & b21) ^ (b63 & b45 & b28 & b9) ^ (b60 & b52 & b37 & b33) ^
                 (b63 & b60 & b21 & b15) ^ (b63 & b60 & b52 & b45 & b37) ^
                 (b33 & b28 & b21 & b15 & b9) ^ (b52 & b45 & b37 & b33 & b28 & b21);

    feedback &= z;
    g ^= s[0] ^ feedback;
    shift(state->s, f ^ feedback);
    shift(state->b, g);
    return z;
}

void grain_v1_init(grain_v1_ctx *ctx, const uint8_t *key, const uint8_t *nonce) {
    grain_v1_state state = {.b = {load(key), load(key + 4), (uint32_t)key[9] << 8 | key[8]},
                            .s = {load(nonce), load(nonce + 4), 0xffff}};
    for (unsigned i = 0; i < 160 / 16; i++)
        steps(&state, ~(uint32_t)0);
    ctx->state = state;
    ctx->left = 0;
}

void grain_v1_encrypt(grain_v1_ctx *ctx, uint8_t *out, const uint8_t *in, size_t length) {
    for (; ctx->left > 0 && length > 0; length--, ctx->left--, ctx->stream >>= 8)
        *out++ = (uint8_t)(*in++ ^ ctx->stream);
    if (length == 0)
        return;
    grain_v1_state state = ctx->state; /* a local copy, which no store to out can change */
    while (length > 0) {
        uint32_t stream = 0;
        for (unsigned i = 0; i < 2; i++)
            stream = stream >> 16 | steps(&state, 0) << 16;
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
    ctx->state = state;
}
