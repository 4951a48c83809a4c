/* Signatures. Each primitive provides, for its prefix p:

     typedef struct { ... } p_ctx; (no function takes it: it may hold one unused char)
     enum { P_SECRET_BYTES, P_SEED_BYTES, P_PUBLIC_BYTES, P_SIGNATURE_BYTES };
     crypto_status p_keygen(uint8_t *public_key, const uint8_t *secret_key)
     crypto_status p_sign(uint8_t *signature, const uint8_t *secret_key,
                          const uint8_t *public_key, const uint8_t *seed,
                          const uint8_t *message, size_t length)
     crypto_status p_verify(const uint8_t *signature, const uint8_t *public_key,
                            const uint8_t *message, size_t length)

   A secret key is uniformly random bytes; an invalid one gives CRYPTO_BAD_TAG. A seed is random
   bytes, fresh for each signature; if P_SEED_BYTES is 0 it may be null. An invalid signature or
   public key gives CRYPTO_BAD_TAG too; ed25519.h says which of its keys are valid. Verification
   handles no secrets, so its time may depend on all inputs. */
#ifndef SIGNATURE_H
#define SIGNATURE_H

#include "crypto.h"

#endif
