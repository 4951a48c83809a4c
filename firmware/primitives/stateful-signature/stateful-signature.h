/* Verification of stateful hash-based signatures (SP 800-208). Each primitive provides, for its
   prefix p:

     typedef struct { ... } p_ctx; (no function takes it: it may hold one unused char)
     enum { P_PUBLIC_BYTES, P_SIGNATURE_BYTES };
     crypto_status p_verify(const uint8_t *signature, size_t signature_length,
                            const uint8_t *public_key, const uint8_t *message, size_t length)

   An invalid signature gives CRYPTO_BAD_TAG, and so does one of another length or parameter set
   than the public key's. Nothing is secret, so the time may depend on all inputs. */
#ifndef STATEFUL_SIGNATURE_H
#define STATEFUL_SIGNATURE_H

#include "crypto.h"

#endif
