#include "curupira1-schedule.h"

extern const uint8_t curupira2_s[256];

static uint16_t word(uint8_t low, uint8_t high) {
    return (uint16_t)(low | (unsigned)high << 8);
}

/* For two columns at a time: rows 0 and 1 of the first, of the second, row 2 of both. */
static void put(uint16_t *to, const uint8_t *key) {
    for (unsigned half = 0; half < 2; half++, key += 6) {
        *to++ = word(key[0], key[1]);
        *to++ = word(key[3], key[4]);
        *to++ = word(key[2], key[5]);
    }
}

static void put_last(uint16_t *to, const uint8_t *key) {
    for (unsigned i = 0; i < 6; i++, key += 2)
        to[i] = word(key[0], key[1]);
}

void curupira1_init(curupira1_ctx *ctx, const uint8_t *key) {
    uint8_t round_keys[CURUPIRA1_ROUNDS + 1][CURUPIRA1_BLOCK_BYTES];
    curupira1_expand(round_keys[0], key, curupira2_s);
    put_last(ctx->encryption[CURUPIRA1_ROUNDS], round_keys[CURUPIRA1_ROUNDS]);
    put_last(ctx->decryption[CURUPIRA1_ROUNDS], round_keys[0]);
    put(ctx->encryption[0], round_keys[0]);
    put(ctx->decryption[0], round_keys[CURUPIRA1_ROUNDS]);
    for (unsigned r = 1; r < CURUPIRA1_ROUNDS; r++) {
        put(ctx->encryption[r], round_keys[r]);
        curupira_theta(round_keys[r]);
        put(ctx->decryption[CURUPIRA1_ROUNDS - r], round_keys[r]);
    }
    crypto_wipe(round_keys, sizeof round_keys);
}
