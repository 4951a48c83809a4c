#include "gcm.h"

static uint32_t load32(const uint8_t *in) {
    return (uint32_t)in[0] << 24 | (uint32_t)in[1] << 16 | (uint32_t)in[2] << 8 | in[3];
}

static void ghash_set_key(gcm_ctx *ctx, const uint8_t *h) {
    for (size_t i = 0; i < 4; i++)
        ctx->h[i] = load32(h + 4 * i);
}

/* SP 800-38D, algorithm 1, with masks instead of conditions, so that time is independent of
   secrets. */
static void ghash_multiply(const gcm_ctx *ctx, uint8_t *y) {
    uint32_t v[4], z[4] = {0, 0, 0, 0};
    for (size_t i = 0; i < 4; i++)
        v[i] = ctx->h[i];

    for (size_t i = 0; i < 16; i++) {
        for (unsigned bit = 8; bit-- > 0;) {
            uint32_t take = crypto_mask32(y[i] >> bit & 1u);
            uint32_t reduce = crypto_mask32((unsigned)v[3] & 1u);
            for (size_t k = 0; k < 4; k++)
                z[k] ^= v[k] & take;
            v[3] = v[3] >> 1 | v[2] << 31;
            v[2] = v[2] >> 1 | v[1] << 31;
            v[1] = v[1] >> 1 | v[0] << 31;
            v[0] = v[0] >> 1 ^ (reduce & 0xe1000000u);
        }
    }

    for (size_t i = 0; i < 16; i++)
        y[i] = (uint8_t)(z[i / 4] >> (24 - 8 * (i % 4)));
    crypto_wipe(v, sizeof v);
    crypto_wipe(z, sizeof z);
}

#include "aead/gcm/gcm-body.h"
