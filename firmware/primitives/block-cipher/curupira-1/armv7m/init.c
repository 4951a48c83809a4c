#include "block-cipher/curupira-2/curupira-armv7m.h"
#include "curupira1-schedule.h"

extern const uint8_t curupira1_s[256];

void curupira1_init(curupira1_ctx *ctx, const uint8_t *key) {
    uint8_t round_keys[CURUPIRA1_BLOCK_BYTES * (CURUPIRA1_ROUNDS + 1)];
    curupira1_expand(round_keys, key, curupira1_s);
    curupira_columns(ctx->encryption, round_keys, CURUPIRA1_ROUNDS, 0);
    curupira_columns(ctx->decryption, round_keys, CURUPIRA1_ROUNDS, 1);
    crypto_wipe(round_keys, sizeof round_keys);
}
