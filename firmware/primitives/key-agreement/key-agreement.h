/* What every key agreement has: functions that take a secret key, uniformly random bytes, and
   refuse with CRYPTO_BAD_TAG, and nothing computed, a secret key that is none and a peer's key that
   is no point of the curve. What comes out is a secret to derive keys from, not a key. */
#ifndef KEY_AGREEMENT_H
#define KEY_AGREEMENT_H

#include "crypto.h"

#endif
