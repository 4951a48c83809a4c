/* Ed25519 (RFC 8032, section 5.1). The secret key is the 32-byte seed. */
#ifndef ED25519_H
#define ED25519_H

#include "signature.h"

#define ED25519_SEED_BYTES 0

enum { ED25519_SECRET_BYTES = 32, ED25519_PUBLIC_BYTES = 32, ED25519_SIGNATURE_BYTES = 64 };

typedef struct {
    char unused; /* all working data is on the stack */
} ed25519_ctx;

crypto_status ed25519_keygen(uint8_t *public_key, const uint8_t *secret_key);
crypto_status ed25519_sign(uint8_t *signature, const uint8_t *secret_key, const uint8_t *public_key,
                           const uint8_t *seed, const uint8_t *message, size_t length);
/* Verifies without the cofactor (section 5.1.7, "sufficient, but not required").

   A public key is invalid if section 5.1.3 does not decode it. The eight points of small order do
   decode, and are accepted, as the RFC permits: under such a key, some signatures verify for every
   message (R the identity and S = 0, under the identity). Who takes keys from others must refuse
   these points. */
crypto_status ed25519_verify(const uint8_t *signature, const uint8_t *public_key,
                             const uint8_t *message, size_t length);

#endif
