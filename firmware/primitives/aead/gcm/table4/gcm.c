#include "gcm.h"
#include "aead/gcm/gcm-reduction.h"

static uint32_t load32(const uint8_t *in) {
    return (uint32_t)in[0] << 24 | (uint32_t)in[1] << 16 | (uint32_t)in[2] << 8 | in[3];
}

static void ghash_set_key(gcm_ctx *ctx, const uint8_t *h) {
    uint32_t v[4];
    for (size_t k = 0; k < 4; k++) {
        v[k] = load32(h + 4 * k);
        ctx->table[0][k] = 0;
    }
    for (size_t n = 8; n > 0; n /= 2) {
        for (size_t k = 0; k < 4; k++)
            ctx->table[n][k] = v[k];
        for (size_t other = 2 * n; other < 16; other += 2 * n)
            for (size_t k = 0; k < 4; k++)
                ctx->table[other + n][k] = ctx->table[other][k] ^ v[k];
        uint32_t reduce = crypto_mask32((unsigned)v[3] & 1u);
        v[3] = v[3] >> 1 | v[2] << 31;
        v[2] = v[2] >> 1 | v[1] << 31;
        v[1] = v[1] >> 1 | v[0] << 31;
        v[0] = v[0] >> 1 ^ (reduce & 0xe1000000u);
    }
    crypto_wipe(v, sizeof v);
}

/* z = z x^4 + n H */
static void step(const gcm_ctx *ctx, uint32_t *z, unsigned n) {
    static const uint16_t reduction[16] = {GCM_REDUCTION};
    const uint32_t *multiple = ctx->table[n];
    uint32_t out = reduction[z[3] & 0xf];
    z[3] = (z[3] >> 4 | z[2] << 28) ^ multiple[3];
    z[2] = (z[2] >> 4 | z[1] << 28) ^ multiple[2];
    z[1] = (z[1] >> 4 | z[0] << 28) ^ multiple[1];
    z[0] = z[0] >> 4 ^ out << 16 ^ multiple[0];
}

static void ghash_multiply(const gcm_ctx *ctx, uint8_t *y) {
    uint32_t z[4] = {0, 0, 0, 0};
    for (size_t i = 16; i-- > 0;) {
        step(ctx, z, y[i] & 0xf);
        step(ctx, z, y[i] >> 4);
    }
    for (size_t i = 0; i < 16; i++)
        y[i] = (uint8_t)(z[i / 4] >> (24 - 8 * (i % 4)));
    crypto_wipe(z, sizeof z);
}

#include "aead/gcm/gcm-core.h"
