#ifndef ECDSA_P256_H
#define ECDSA_P256_H

#include "signature.h"

#define ECDSA_P256_SEED_BYTES (ECDSA_SEEDED ? 48 : 0)

enum {
    ECDSA_P256_SECRET_BYTES = 32,
    ECDSA_P256_PUBLIC_BYTES = 2 * 32,
    ECDSA_P256_SIGNATURE_BYTES = 2 * 32
};

typedef struct {
    char unused; /* all working data is on the stack */
} ecdsa_p256_ctx;

crypto_status ecdsa_p256_keygen(uint8_t *public_key, const uint8_t *secret_key);
crypto_status ecdsa_p256_sign(uint8_t *signature, const uint8_t *secret_key,
                              const uint8_t *public_key, const uint8_t *seed,
                              const uint8_t *message, size_t length);
crypto_status ecdsa_p256_verify(const uint8_t *signature, const uint8_t *public_key,
                                const uint8_t *message, size_t length);

#endif
