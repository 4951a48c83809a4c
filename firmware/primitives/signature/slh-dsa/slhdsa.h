/* SLH-DSA (FIPS 205) with n = SLHDSA_SEED_BYTES, which is 16 unless it is defined before; messages
   are signed with an empty context. */
#ifndef SLHDSA_H_INCLUDED
#define SLHDSA_H_INCLUDED

#include "signature.h"

#ifndef SLHDSA_SEED_BYTES
#define SLHDSA_SEED_BYTES 16
#endif

enum {
    SLHDSA_N = SLHDSA_SEED_BYTES,
    SLHDSA_CHAINS = 2 * SLHDSA_N + 3, /* of a one-time signature: section 5 */
    SLHDSA_SECRET_BYTES = 3 * SLHDSA_N,
    SLHDSA_PUBLIC_BYTES = 2 * SLHDSA_N,
    SLHDSA_SIGNATURE_BYTES =
        SLHDSA_N * (1 + SLHDSA_K * (1 + SLHDSA_A) + SLHDSA_H + SLHDSA_D * SLHDSA_CHAINS)
};

typedef struct {
    char unused; /* all working data is on the stack */
} slhdsa_ctx;

/* A secret key is SK.seed, SK.prf and PK.seed. An implementation signs or verifies; what it does
   not do returns CRYPTO_BAD_TAG. */
crypto_status slhdsa_keygen(uint8_t *public_key, const uint8_t *secret_key);
crypto_status slhdsa_sign(uint8_t *signature, const uint8_t *secret_key, const uint8_t *public_key,
                          const uint8_t *seed, const uint8_t *message, size_t length);
crypto_status slhdsa_verify(const uint8_t *signature, const uint8_t *public_key,
                            const uint8_t *message, size_t length);

#endif
