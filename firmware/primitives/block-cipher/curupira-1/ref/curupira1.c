#include "curupira1-schedule.h"

void curupira1_init(curupira1_ctx *ctx, const uint8_t *key) {
    curupira1_expand(ctx->round_keys, key, curupira_sbox);
}

static void load(uint8_t *state, const uint8_t *in) {
    for (unsigned i = 0; i < CURUPIRA1_BLOCK_BYTES; i++)
        state[i] = in[i];
}

void curupira1_encrypt(const curupira1_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) {
    for (; blocks > 0; blocks--, in += CURUPIRA1_BLOCK_BYTES, out += CURUPIRA1_BLOCK_BYTES) {
        load(out, in);
        curupira_encrypt(out, ctx->round_keys, CURUPIRA1_ROUNDS);
    }
}

void curupira1_decrypt(const curupira1_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) {
    for (; blocks > 0; blocks--, in += CURUPIRA1_BLOCK_BYTES, out += CURUPIRA1_BLOCK_BYTES) {
        load(out, in);
        curupira_decrypt(out, ctx->round_keys, CURUPIRA1_ROUNDS);
    }
}

void curupira1_sct(uint8_t *block) {
    curupira_sct(block);
}
