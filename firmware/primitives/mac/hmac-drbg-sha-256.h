/* HMAC_DRBG with SHA-256 (SP 800-90A Rev. 1, 10.1.2), for primitives that are tied to it. RFC 6979
   derives its nonces with the same generator. */
#ifndef MAC_HMAC_DRBG_SHA_256_H
#define MAC_HMAC_DRBG_SHA_256_H

#include "mac/hmac-sha-256.h"
#include "random-generator/random-generator.h"

enum { DRBG_PIECES = 3 };

/* Strings to be concatenated. */
typedef struct {
    const uint8_t *bytes;
    size_t length;
} drbg_piece;

CRYPTO_NOT_INLINE static void drbg_value(drbg_state *state) {
    sha256_ctx hash;
    hmac_sha256_begin(&hash, state->key);
    sha256_update(&hash, state->value, sizeof state->value);
    hmac_sha256_end(&hash, state->key, state->value);
}

CRYPTO_NOT_INLINE static void drbg_round(drbg_state *state, uint8_t number,
                                         const drbg_piece provided[DRBG_PIECES]) {
    sha256_ctx hash;
    hmac_sha256_begin(&hash, state->key);
    sha256_update(&hash, state->value, sizeof state->value);
    sha256_update(&hash, &number, 1);
    for (unsigned i = 0; provided && i < DRBG_PIECES; i++)
        sha256_update(&hash, provided[i].bytes, provided[i].length);
    hmac_sha256_end(&hash, state->key, state->key);
    drbg_value(state);
}

/* 10.1.2.2; null: no provided data. */
static void drbg_update(drbg_state *state, const drbg_piece provided[DRBG_PIECES]) {
    drbg_round(state, 0, provided);
    if (provided)
        drbg_round(state, 1, provided);
}

/* 10.1.2.3; seed is entropy, nonce and personalization string. */
static void drbg_instantiate(drbg_state *state, const drbg_piece seed[DRBG_PIECES]) {
    for (unsigned i = 0; i < 32; i++) {
        state->key[i] = 0;
        state->value[i] = 1;
    }
    drbg_update(state, seed);
}

/* 10.1.2.5, steps 3 to 5; the caller ends a request with drbg_update(state, NULL). */
static void drbg_draw(drbg_state *state, uint8_t *out, size_t length) {
    for (size_t have = 0; have < length; have += 32) {
        drbg_value(state);
        for (size_t i = 0; i < 32 && have + i < length; i++)
            out[have + i] = state->value[i];
    }
}

#endif
