#ifndef HMAC_DRBG_H
#define HMAC_DRBG_H

#include "random-generator.h"

enum { HMAC_DRBG_ENTROPY_BYTES = 32, HMAC_DRBG_NONCE_BYTES = 16 };

typedef drbg_state hmac_drbg_ctx;

void hmac_drbg_instantiate(hmac_drbg_ctx *ctx, const uint8_t *entropy, const uint8_t *nonce,
                           const uint8_t *personalization, size_t length);
void hmac_drbg_reseed(hmac_drbg_ctx *ctx, const uint8_t *entropy);
/* length is at most 65536 (table 2 of the specification). */
void hmac_drbg_generate(hmac_drbg_ctx *ctx, uint8_t *out, size_t length);

#endif
