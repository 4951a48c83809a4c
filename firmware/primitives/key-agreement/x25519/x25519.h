#ifndef X25519_H
#define X25519_H

#include "key-agreement.h"

enum { X25519_SECRET_BYTES = 32, X25519_PUBLIC_BYTES = 32, X25519_SHARED_BYTES = 32 };

typedef struct {
    char unused; /* all working data is on the stack */
} x25519_ctx;

crypto_status x25519_keygen(uint8_t *public_key, const uint8_t *secret_key);
/* Rejects a shared secret of zeros, which a peer's key of small order gives whatever the secret key
   is (RFC 7748, section 6.1). */
crypto_status x25519_agree(uint8_t *shared, const uint8_t *secret_key, const uint8_t *peer_key);

#endif
