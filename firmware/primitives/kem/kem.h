/* Key encapsulation. Each primitive provides, for its prefix p:

     enum { P_SEED_BYTES, P_RANDOM_BYTES, P_PUBLIC_BYTES, P_PRIVATE_BYTES, P_CIPHERTEXT_BYTES,
            P_SHARED_BYTES };
     crypto_status p_keygen(uint8_t *public_key, uint8_t *private_key, const uint8_t *seed)
     crypto_status p_encapsulate(uint8_t *ciphertext, uint8_t *shared, const uint8_t *public_key,
                                 const uint8_t *random)
     crypto_status p_decapsulate(uint8_t *shared, const uint8_t *ciphertext,
                                 const uint8_t *private_key)

   Seed and random are uniformly random bytes. An invalid public key gives CRYPTO_BAD_TAG and no
   output. From a ciphertext that nobody made with the public key, decapsulation derives a secret
   that nobody else can know, and returns CRYPTO_OK: implicit rejection. */
#ifndef KEM_H
#define KEM_H

#include "crypto.h"

#endif
