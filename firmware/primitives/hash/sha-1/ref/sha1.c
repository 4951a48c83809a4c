#include "sha1.h"

static uint32_t rotate_left(uint32_t x, unsigned n) {
    return x << n | x >> (32 - n);
}

static uint32_t load(const uint8_t *in) {
    return (uint32_t)in[0] << 24 | (uint32_t)in[1] << 16 | (uint32_t)in[2] << 8 | in[3];
}

static void store(uint8_t *out, uint32_t word) {
    for (unsigned i = 4; i-- > 0; word >>= 8)
        out[i] = (uint8_t)word;
}

/* FIPS 180-4, section 6.1.3: the message schedule in 16 words. */
static void compress(uint32_t h[5], const uint8_t *block) {
    uint32_t w[16];
    for (unsigned t = 0; t < 16; t++)
        w[t] = load(block + 4 * t);

    uint32_t a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];
    for (unsigned t = 0; t < 80; t++) {
        if (t >= 16)
            w[t & 15] =
                rotate_left(w[(t - 3) & 15] ^ w[(t - 8) & 15] ^ w[(t - 14) & 15] ^ w[t & 15], 1);
        uint32_t f, k;
        if (t < 20) {
            f = (b & c) ^ (~b & d);
            k = 0x5a827999;
        } else if (t < 40) {
            f = b ^ c ^ d;
            k = 0x6ed9eba1;
        } else if (t < 60) {
            f = (b & c) ^ (b & d) ^ (c & d);
            k = 0x8f1bbcdc;
        } else {
            f = b ^ c ^ d;
            k = 0xca62c1d6;
        }
        uint32_t next = rotate_left(a, 5) + f + e + k + w[t & 15];
        e = d;
        d = c;
        c = rotate_left(b, 30);
        b = a;
        a = next;
    }
    h[0] += a;
    h[1] += b;
    h[2] += c;
    h[3] += d;
    h[4] += e;
    crypto_wipe(w, sizeof w);
}

void sha1_init(sha1_ctx *ctx) {
    static const uint32_t initial[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    for (unsigned i = 0; i < 5; i++)
        ctx->h[i] = initial[i];
    ctx->length = 0;
}

void sha1_update(sha1_ctx *ctx, const uint8_t *data, size_t length) {
    unsigned used = (unsigned)ctx->length % SHA1_BLOCK_BYTES;
    ctx->length += length;
    while (length > 0) {
        if (used == 0 && length >= SHA1_BLOCK_BYTES) {
            compress(ctx->h, data);
            data += SHA1_BLOCK_BYTES;
            length -= SHA1_BLOCK_BYTES;
            continue;
        }
        ctx->block[used++] = *data++;
        length--;
        if (used == SHA1_BLOCK_BYTES) {
            compress(ctx->h, ctx->block);
            used = 0;
        }
    }
}

void sha1_final(sha1_ctx *ctx, uint8_t *digest) {
    /* FIPS 180-4, section 5.1.1: a one bit, zeros, the length in 64 bits. */
    uint64_t bits = ctx->length * 8;
    unsigned used = (unsigned)ctx->length % SHA1_BLOCK_BYTES;
    ctx->block[used++] = 0x80;
    if (used > SHA1_BLOCK_BYTES - 8) {
        while (used < SHA1_BLOCK_BYTES)
            ctx->block[used++] = 0;
        compress(ctx->h, ctx->block);
        used = 0;
    }
    while (used < SHA1_BLOCK_BYTES - 8)
        ctx->block[used++] = 0;
    store(ctx->block + 56, (uint32_t)(bits >> 32));
    store(ctx->block + 60, (uint32_t)bits);
    compress(ctx->h, ctx->block);
    for (unsigned i = 0; i < 5; i++)
        store(digest + 4 * i, ctx->h[i]);
    crypto_wipe(ctx, sizeof *ctx);
}
