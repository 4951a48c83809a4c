/* Key agreement. Each primitive provides, for its prefix p:

     enum { P_SECRET_BYTES, P_PUBLIC_BYTES, P_SHARED_BYTES };
     crypto_status p_keygen(uint8_t *public_key, const uint8_t *secret_key)
     crypto_status p_agree(uint8_t *shared, const uint8_t *secret_key, const uint8_t *peer_key)

   A secret key is uniformly random bytes. One that is none, and a peer's key that is no point of
   the curve, are CRYPTO_BAD_TAG, and nothing is computed. What comes out is a secret to derive keys
   from, not a key. */
#ifndef KEY_AGREEMENT_H
#define KEY_AGREEMENT_H

#include "crypto.h"

#endif
