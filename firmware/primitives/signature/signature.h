/* What every signature has. The secret key is uniformly random bytes. Verification handles nothing
   secret, and its time may depend on all that it is given; what is no signature, or no public key,
   is CRYPTO_BAD_TAG. */
#ifndef SIGNATURE_H
#define SIGNATURE_H

#include "crypto.h"

#endif
