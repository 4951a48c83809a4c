#include "xtea.h"

static const uint32_t delta = 0x9e3779b9;

static uint32_t load(const uint8_t *in) {
    return (uint32_t)in[0] << 24 | (uint32_t)in[1] << 16 | (uint32_t)in[2] << 8 | in[3];
}

static void store(uint8_t *out, uint32_t word) {
    for (unsigned i = 4; i-- > 0; word >>= 8)
        out[i] = (uint8_t)word;
}

void xtea_init(xtea_ctx *ctx, const uint8_t *key) {
    for (unsigned i = 0; i < 4; i++)
        ctx->key[i] = load(key + 4 * i);
}

static uint32_t f(uint32_t v) {
    return (v << 4 ^ v >> 5) + v;
}

void xtea_encrypt(const xtea_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) {
    for (; blocks > 0; blocks--, in += XTEA_BLOCK_BYTES, out += XTEA_BLOCK_BYTES) {
        uint32_t y = load(in), z = load(in + 4), sum = 0;
        for (unsigned i = 0; i < XTEA_CYCLES; i++) {
            y += f(z) ^ (sum + ctx->key[sum & 3]);
            sum += delta;
            z += f(y) ^ (sum + ctx->key[sum >> 11 & 3]);
        }
        store(out, y);
        store(out + 4, z);
    }
}

void xtea_decrypt(const xtea_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) {
    for (; blocks > 0; blocks--, in += XTEA_BLOCK_BYTES, out += XTEA_BLOCK_BYTES) {
        uint32_t y = load(in), z = load(in + 4), sum = delta * XTEA_CYCLES;
        for (unsigned i = 0; i < XTEA_CYCLES; i++) {
            z -= f(y) ^ (sum + ctx->key[sum >> 11 & 3]);
            sum -= delta;
            y -= f(z) ^ (sum + ctx->key[sum & 3]);
        }
        store(out, y);
        store(out + 4, z);
    }
}
