#include "trivium.h"

static unsigned get(const trivium_ctx *ctx, unsigned i) {
    i--;
    return ctx->s[i / 8] >> i % 8 & 1u;
}

static void set(trivium_ctx *ctx, unsigned i, unsigned bit) {
    i--;
    ctx->s[i / 8] = (uint8_t)((ctx->s[i / 8] & ~(1u << i % 8)) | bit << i % 8);
}

/* Runs one step; returns the key stream bit (specification, section 2.1). */
static unsigned step(trivium_ctx *ctx) {
    unsigned t1 = get(ctx, 66) ^ get(ctx, 93);
    unsigned t2 = get(ctx, 162) ^ get(ctx, 177);
    unsigned t3 = get(ctx, 243) ^ get(ctx, 288);
    unsigned z = t1 ^ t2 ^ t3;
    t1 ^= (get(ctx, 91) & get(ctx, 92)) ^ get(ctx, 171);
    t2 ^= (get(ctx, 175) & get(ctx, 176)) ^ get(ctx, 264);
    t3 ^= (get(ctx, 286) & get(ctx, 287)) ^ get(ctx, 69);

    /* Moves every bit on by one; the three bits that leave a register are overwritten. */
    unsigned carry = 0;
    for (unsigned i = 0; i < sizeof ctx->s; i++) {
        unsigned moved = (unsigned)ctx->s[i] << 1 | carry;
        ctx->s[i] = (uint8_t)moved;
        carry = moved >> 8;
    }
    set(ctx, 1, t3);
    set(ctx, 94, t1);
    set(ctx, 178, t2);
    return z;
}

void trivium_init(trivium_ctx *ctx, const uint8_t *key, const uint8_t *nonce) {
    for (unsigned i = 0; i < sizeof ctx->s; i++)
        ctx->s[i] = 0;
    /* Bits are counted from the lowest of the first byte, and s_1 is the key's last bit: eSTREAM's
       test vectors and ISO/IEC 29192-3 use this order. */
    for (unsigned i = 0; i < 80; i++) {
        set(ctx, 80 - i, key[i / 8] >> i % 8 & 1u);
        set(ctx, 93 + 80 - i, nonce[i / 8] >> i % 8 & 1u);
    }
    for (unsigned i = 286; i <= 288; i++)
        set(ctx, i, 1);
    for (unsigned i = 0; i < 4 * 288; i++)
        step(ctx);
}

void trivium_encrypt(trivium_ctx *ctx, uint8_t *out, const uint8_t *in, size_t length) {
    for (; length > 0; length--) {
        unsigned keystream = 0;
        for (unsigned i = 0; i < 8; i++)
            keystream |= step(ctx) << i;
        *out++ = (uint8_t)(*in++ ^ keystream);
    }
}
