#ifndef ECDSA_SECP160R1_H
#define ECDSA_SECP160R1_H

#include "signature.h"

#define ECDSA_SECP160R1_SEED_BYTES (ECDSA_SEEDED ? 48 : 0)

enum {
    ECDSA_SECP160R1_SECRET_BYTES = 20,
    ECDSA_SECP160R1_PUBLIC_BYTES = 2 * 20,
    ECDSA_SECP160R1_SIGNATURE_BYTES = 2 * 21
};

typedef struct {
    char unused; /* all working data is on the stack */
} ecdsa_secp160r1_ctx;

crypto_status ecdsa_secp160r1_keygen(uint8_t *public_key, const uint8_t *secret_key);
crypto_status ecdsa_secp160r1_sign(uint8_t *signature, const uint8_t *secret_key,
                                   const uint8_t *public_key, const uint8_t *seed,
                                   const uint8_t *message, size_t length);
crypto_status ecdsa_secp160r1_verify(const uint8_t *signature, const uint8_t *public_key,
                                     const uint8_t *message, size_t length);

#endif
