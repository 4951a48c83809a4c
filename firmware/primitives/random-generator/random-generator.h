/* Random generators. Each primitive provides, for its prefix p:

     typedef ... p_ctx; enum { P_ENTROPY_BYTES, P_NONCE_BYTES };
     void p_instantiate(p_ctx *ctx, const uint8_t *entropy, const uint8_t *nonce,
                        const uint8_t *personalization, size_t length)
     void p_reseed(p_ctx *ctx, const uint8_t *entropy)
     void p_generate(p_ctx *ctx, uint8_t *out, size_t length)

   A context is secret; the caller wipes it after use. */
#ifndef RANDOM_GENERATOR_H
#define RANDOM_GENERATOR_H

#include "crypto.h"

/* A state of HMAC_DRBG with SHA-256: Key and V. */
typedef struct {
    uint8_t key[32], value[32];
} drbg_state;

#endif
