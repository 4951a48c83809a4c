#include "block-cipher/curupira-2/curupira-armv7m.h"
#include "curupira2-schedule.h"

extern const uint8_t curupira2_s[256];

void curupira2_init(curupira2_ctx *ctx, const uint8_t *key) {
    uint8_t round_keys[CURUPIRA2_BLOCK_BYTES * (CURUPIRA2_ROUNDS + 1)];
    curupira2_expand(round_keys, key, curupira2_s);
    curupira_columns(ctx->encryption, round_keys, CURUPIRA2_ROUNDS, 0);
    curupira_columns(ctx->decryption, round_keys, CURUPIRA2_ROUNDS, 1);
    crypto_wipe(round_keys, sizeof round_keys);
}
