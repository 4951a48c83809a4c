/* The table for implementations with 32-bit words: the multiples n H for all four-bit n. */
#ifndef GCM_TABLE_H
#define GCM_TABLE_H

#include "gcm.h"

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

#endif
