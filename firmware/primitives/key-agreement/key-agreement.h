/* Key agreement. Each primitive provides, for its prefix p:

     typedef struct { ... } p_ctx; (no function takes it: it may hold one unused char)
     enum { P_SECRET_BYTES, P_PUBLIC_BYTES, P_SHARED_BYTES };
     crypto_status p_keygen(uint8_t *public_key, const uint8_t *secret_key)
     crypto_status p_agree(uint8_t *shared, const uint8_t *secret_key, const uint8_t *peer_key)

   A secret key is uniformly random bytes. An invalid secret key, or a peer's key that is not a
   point of the curve, gives CRYPTO_BAD_TAG and no output. The result is a secret from which to
   derive keys, not a key. */
#ifndef KEY_AGREEMENT_H
#define KEY_AGREEMENT_H

#include "crypto.h"

#endif
