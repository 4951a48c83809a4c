#ifndef ECDSA_SECP256K1_H
#define ECDSA_SECP256K1_H

#include "signature.h"

#define ECDSA_SECP256K1_SEED_BYTES 0

enum {
    ECDSA_SECP256K1_SECRET_BYTES = 32,
    ECDSA_SECP256K1_PUBLIC_BYTES = 2 * 32,
    ECDSA_SECP256K1_SIGNATURE_BYTES = 2 * 32
};

typedef struct {
    char unused; /* all working data is on the stack */
} ecdsa_secp256k1_ctx;

crypto_status ecdsa_secp256k1_keygen(uint8_t *public_key, const uint8_t *secret_key);
crypto_status ecdsa_secp256k1_sign(uint8_t *signature, const uint8_t *secret_key,
                                   const uint8_t *public_key, const uint8_t *seed,
                                   const uint8_t *message, size_t length);
crypto_status ecdsa_secp256k1_verify(const uint8_t *signature, const uint8_t *public_key,
                                     const uint8_t *message, size_t length);

#endif
