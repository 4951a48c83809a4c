#include "gcm.h"
#include "aead/gcm/gcm-reduction.h"
#include "aead/gcm/gcm-table.h"

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

#include "aead/gcm/gcm-body.h"
