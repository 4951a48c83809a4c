#include "curupira2.h"
#include "curupira-rounds.h"

void curupira2_init(curupira2_ctx *ctx, const uint8_t *key) {
    uint8_t k[CURUPIRA2_KEY_BYTES];
    for (unsigned i = 0; i < sizeof k; i++)
        k[i] = key[i];

    uint8_t *round_key = ctx->round_keys;
    for (unsigned r = 0;; r++) {
        /* Key selection: the S-box on row 0. */
        for (unsigned i = 0; i < CURUPIRA2_BLOCK_BYTES; i++)
            round_key[i] = i % 3 == 0 ? curupira_sbox[k[i]] : k[i];
        if (r == CURUPIRA2_ROUNDS)
            break;
        round_key += CURUPIRA2_BLOCK_BYTES;

        /* Key evolution: add the constant S(r) to the most significant byte, k[0], and multiply by
           x^8 in GF(2^96) modulo x^96 + x^16 + x^13 + x^11 + 1. */
        uint8_t u = k[0] ^ curupira_sbox[r];
        for (unsigned i = 0; i + 1 < sizeof k; i++)
            k[i] = k[i + 1];
        k[9] ^= (uint8_t)(u ^ u >> 3 ^ u >> 5);
        k[10] ^= (uint8_t)((unsigned)u << 5 ^ (unsigned)u << 3);
        k[11] = u;
    }
    crypto_wipe(k, sizeof k);
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
