#include "hmac_drbg.h"

#include "mac/hmac-drbg-sha-256.h"

void hmac_drbg_instantiate(hmac_drbg_ctx *ctx, const uint8_t *entropy, const uint8_t *nonce,
                           const uint8_t *personalization, size_t length) {
    const drbg_piece seed[DRBG_PIECES] = {{entropy, HMAC_DRBG_ENTROPY_BYTES},
                                          {nonce, HMAC_DRBG_NONCE_BYTES},
                                          {personalization, length}};
    drbg_instantiate(ctx, seed);
}

void hmac_drbg_reseed(hmac_drbg_ctx *ctx, const uint8_t *entropy) {
    const drbg_piece seed[DRBG_PIECES] = {{entropy, HMAC_DRBG_ENTROPY_BYTES}};
    drbg_update(ctx, seed);
}

void hmac_drbg_generate(hmac_drbg_ctx *ctx, uint8_t *out, size_t length) {
    drbg_draw(ctx, out, length);
    drbg_update(ctx, NULL);
}
