#include "xtea.h"

void xtea_init(xtea_ctx *ctx, const uint8_t *key) {
    const uint32_t delta = 0x9e3779b9;
    uint32_t k[4], sum = 0, *round_key = ctx->round_keys;
    for (unsigned i = 0; i < 4; i++, key += 4)
        k[i] = (uint32_t)key[0] << 24 | (uint32_t)key[1] << 16 | (uint32_t)key[2] << 8 | key[3];
    for (unsigned i = 0; i < XTEA_CYCLES; i++) {
        *round_key++ = sum + k[sum & 3];
        sum += delta;
        *round_key++ = sum + k[sum >> 11 & 3];
    }
    crypto_wipe(k, sizeof k);
}
