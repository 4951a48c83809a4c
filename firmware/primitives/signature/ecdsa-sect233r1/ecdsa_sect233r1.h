#ifndef ECDSA_SECT233R1_H
#define ECDSA_SECT233R1_H

#include "signature.h"

#define ECDSA_SECT233R1_SEED_BYTES 0

enum {
    ECDSA_SECT233R1_SECRET_BYTES = 29,
    ECDSA_SECT233R1_PUBLIC_BYTES = 2 * 30,
    ECDSA_SECT233R1_SIGNATURE_BYTES = 2 * 30
};

typedef struct {
    char unused; /* all working data is on the stack */
} ecdsa_sect233r1_ctx;

crypto_status ecdsa_sect233r1_keygen(uint8_t *public_key, const uint8_t *secret_key);
crypto_status ecdsa_sect233r1_sign(uint8_t *signature, const uint8_t *secret_key,
                                   const uint8_t *public_key, const uint8_t *seed,
                                   const uint8_t *message, size_t length);
crypto_status ecdsa_sect233r1_verify(const uint8_t *signature, const uint8_t *public_key,
                                     const uint8_t *message, size_t length);

#endif
