#ifndef ECDH_SECP256K1_H
#define ECDH_SECP256K1_H

#include "key-agreement.h"

enum {
    ECDH_SECP256K1_SECRET_BYTES = 32,
    ECDH_SECP256K1_PUBLIC_BYTES = 2 * 32,
    ECDH_SECP256K1_SHARED_BYTES = 32
};

typedef struct {
    char unused; /* all working data is on the stack */
} ecdh_secp256k1_ctx;

crypto_status ecdh_secp256k1_keygen(uint8_t *public_key, const uint8_t *secret_key);
crypto_status ecdh_secp256k1_agree(uint8_t *shared, const uint8_t *secret_key,
                                   const uint8_t *peer_key);

#endif
