/* Key set-up and decryption; the rest is in crypt.S. The key is shifted by moving through a longer
   array: in round r it is in k[r] to k[r + 11]. */
#include "curupira-rounds.h"
#include "curupira2.h"

static uint8_t t0(unsigned u) {
    return (uint8_t)(u << 5 ^ u << 3);
}

static uint8_t t1(unsigned u) {
    return (uint8_t)(u ^ u >> 3 ^ u >> 5);
}

void curupira2_init(curupira2_ctx *ctx, const uint8_t *key) {
    uint8_t k[CURUPIRA2_KEY_BYTES + CURUPIRA2_ROUNDS];
    for (unsigned i = 0; i < CURUPIRA2_KEY_BYTES; i++)
        k[i] = ctx->key[i] = key[i];
    for (unsigned r = 0; r < CURUPIRA2_ROUNDS; r++) {
        uint8_t u = k[r] ^ curupira_sbox[r];
        k[r + 10] ^= t1(u);
        k[r + 11] ^= t0(u);
        k[r + 12] = u;
    }
    for (unsigned i = 0; i < CURUPIRA2_KEY_BYTES; i++)
        ctx->last[i] = k[CURUPIRA2_ROUNDS + i];
    crypto_wipe(k, sizeof k);
}

static void add_key(uint8_t *state, const uint8_t *k) {
    for (unsigned i = 0; i < CURUPIRA2_BLOCK_BYTES; i += 3) {
        state[i] ^= curupira_sbox[k[i]];
        state[i + 1] ^= k[i + 1];
        state[i + 2] ^= k[i + 2];
    }
}

void curupira2_decrypt(const curupira2_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) {
    uint8_t k[CURUPIRA2_KEY_BYTES + CURUPIRA2_ROUNDS];
    for (; blocks > 0; blocks--, in += CURUPIRA2_BLOCK_BYTES, out += CURUPIRA2_BLOCK_BYTES) {
        for (unsigned i = 0; i < CURUPIRA2_BLOCK_BYTES; i++) {
            k[CURUPIRA2_ROUNDS + i] = ctx->last[i];
            out[i] = in[i];
        }
        add_key(out, k + CURUPIRA2_ROUNDS);
        for (unsigned r = CURUPIRA2_ROUNDS; r-- > 0;) {
            uint8_t u = k[r + 12];
            k[r + 11] ^= t0(u);
            k[r + 10] ^= t1(u);
            k[r] = u ^ curupira_sbox[r];
            curupira_gamma_pi(out);
            add_key(out, k + r);
            if (r > 0)
                curupira_theta(out);
        }
    }
    crypto_wipe(k, sizeof k);
}
