#include "curupira2.h"
#include "curupira2-schedule.h"

void curupira2_init(curupira2_ctx *ctx, const uint8_t *key) {
    curupira2_expand(ctx->round_keys, key, curupira_sbox);
}

static void load(uint8_t *state, const uint8_t *in) {
    for (unsigned i = 0; i < CURUPIRA2_BLOCK_BYTES; i++)
        state[i] = in[i];
}

void curupira2_encrypt(const curupira2_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) {
    for (; blocks > 0; blocks--, in += CURUPIRA2_BLOCK_BYTES, out += CURUPIRA2_BLOCK_BYTES) {
        load(out, in);
        curupira_encrypt(out, ctx->round_keys, CURUPIRA2_ROUNDS);
    }
}

void curupira2_decrypt(const curupira2_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) {
    for (; blocks > 0; blocks--, in += CURUPIRA2_BLOCK_BYTES, out += CURUPIRA2_BLOCK_BYTES) {
        load(out, in);
        curupira_decrypt(out, ctx->round_keys, CURUPIRA2_ROUNDS);
    }
}

void curupira2_sct(uint8_t *block) {
    curupira_sct(block);
}
