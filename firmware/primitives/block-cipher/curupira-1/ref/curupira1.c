#include "curupira1.h"
#include "block-cipher/curupira-2/curupira-rounds.h"

enum { KEY_COLUMNS = CURUPIRA1_KEY_BYTES / 3 }; /* 2 t of the paper */

/* Product with c(x) = x^4 + x^3 + x^2 in GF(2^8). */
static uint8_t times_c(uint8_t a) {
    uint8_t x2 = curupira_times_x(curupira_times_x(a));
    uint8_t x3 = curupira_times_x(x2);
    return x2 ^ x3 ^ curupira_times_x(x3);
}

void curupira1_init(curupira1_ctx *ctx, const uint8_t *key) {
    uint8_t k[CURUPIRA1_KEY_BYTES], row[KEY_COLUMNS];
    for (unsigned i = 0; i < sizeof k; i++)
        k[i] = key[i];

    uint8_t *round_key = ctx->round_keys;
    uint8_t constant = 0;
    for (unsigned r = 0;; r++) {
        /* phi, key selection: the first four columns, with the S-box on row 0. */
        for (unsigned i = 0; i < CURUPIRA1_BLOCK_BYTES; i++)
            round_key[i] = i % 3 == 0 ? curupira_sbox[k[i]] : k[i];
        if (r == CURUPIRA1_ROUNDS)
            break;
        round_key += CURUPIRA1_BLOCK_BYTES;

        /* sigma: row 0 of the constants is S(2 t (s - 1) + j). */
        for (unsigned j = 0; j < KEY_COLUMNS; j++)
            k[3 * j] ^= curupira_sbox[constant++];

        /* xi: row 1 turns left, row 2 right, by one column. */
        for (unsigned j = 0; j < KEY_COLUMNS; j++)
            row[j] = k[3 * ((j + 1) % KEY_COLUMNS) + 1];
        for (unsigned j = 0; j < KEY_COLUMNS; j++)
            k[3 * j + 1] = row[j];
        for (unsigned j = 0; j < KEY_COLUMNS; j++)
            row[j] = k[3 * ((j + KEY_COLUMNS - 1) % KEY_COLUMNS) + 2];
        for (unsigned j = 0; j < KEY_COLUMNS; j++)
            k[3 * j + 2] = row[j];

        /* mu: each column times E = I + c (1, 1, 1)^t (1, 1, 1). */
        for (uint8_t *column = k; column < k + sizeof k; column += 3) {
            uint8_t v = times_c(column[0] ^ column[1] ^ column[2]);
            for (unsigned i = 0; i < 3; i++)
                column[i] ^= v;
        }
    }
    crypto_wipe(k, sizeof k);
    crypto_wipe(row, sizeof row);
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
