#include "gcm.h"

/* y = y * H; in ghash.S. */
void ghash_multiply_table(uint8_t *y, const uint16_t *table);

static void ghash_set_key(gcm_ctx *ctx, const uint8_t *h) {
    uint16_t v[8];
    for (size_t k = 0; k < 8; k++) {
        v[k] = (uint16_t)((unsigned)h[2 * k] << 8 | h[2 * k + 1]);
        ctx->table[0][k] = 0;
    }
    for (size_t n = 8; n > 0; n /= 2) {
        for (size_t k = 0; k < 8; k++)
            ctx->table[n][k] = v[k];
        for (size_t other = 2 * n; other < 16; other += 2 * n)
            for (size_t k = 0; k < 8; k++)
                ctx->table[other + n][k] = ctx->table[other][k] ^ v[k];
        unsigned reduce = crypto_mask(v[7] & 1u);
        for (size_t k = 7; k > 0; k--)
            v[k] = (uint16_t)(v[k] >> 1 | (unsigned)v[k - 1] << 15);
        v[0] = (uint16_t)(v[0] >> 1 ^ (reduce & 0xe100u));
    }
    crypto_wipe(v, sizeof v);
}

static void ghash_multiply(const gcm_ctx *ctx, uint8_t *y) {
    ghash_multiply_table(y, ctx->table[0]);
}

#include "aead/gcm/gcm-body.h"
