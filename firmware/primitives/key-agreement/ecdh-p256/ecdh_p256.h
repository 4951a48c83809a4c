#ifndef ECDH_P256_H
#define ECDH_P256_H

#include "key-agreement.h"

enum { ECDH_P256_SECRET_BYTES = 32, ECDH_P256_PUBLIC_BYTES = 2 * 32, ECDH_P256_SHARED_BYTES = 32 };

typedef struct {
    char unused; /* all working data is on the stack */
} ecdh_p256_ctx;

crypto_status ecdh_p256_keygen(uint8_t *public_key, const uint8_t *secret_key);
crypto_status ecdh_p256_agree(uint8_t *shared, const uint8_t *secret_key, const uint8_t *peer_key);

#define ECDH_WITH_X
crypto_status ecdh_p256_agree_x(uint8_t *shared, const uint8_t *secret_key, const uint8_t *peer_x);

#endif
