#ifndef ECDH_SECP160R1_H
#define ECDH_SECP160R1_H

#include "key-agreement.h"

enum {
    ECDH_SECP160R1_SECRET_BYTES = 20,
    ECDH_SECP160R1_PUBLIC_BYTES = 2 * 20,
    ECDH_SECP160R1_SHARED_BYTES = 20
};

typedef struct {
    char unused; /* all working data is on the stack */
} ecdh_secp160r1_ctx;

crypto_status ecdh_secp160r1_keygen(uint8_t *public_key, const uint8_t *secret_key);
crypto_status ecdh_secp160r1_agree(uint8_t *shared, const uint8_t *secret_key,
                                   const uint8_t *peer_key);

#endif
