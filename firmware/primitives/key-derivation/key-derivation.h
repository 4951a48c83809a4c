/* Key derivation in two steps, from a secret that is not uniform. Each primitive provides, for its
   prefix p:

     enum { P_SECRET_BYTES, P_SALT_BYTES, P_PRK_BYTES };
     void p_extract(uint8_t *prk, const uint8_t *salt, size_t salt_length, const uint8_t *secret,
   size_t length)
     crypto_status p_expand(uint8_t *out, size_t out_length, const uint8_t *prk, const uint8_t
   *info, size_t length)

   The sizes of secret and salt are usual ones; any are taken. An output that is longer than the
   primitive can make is CRYPTO_BAD_LENGTH. */
#ifndef KEY_DERIVATION_H
#define KEY_DERIVATION_H

#include "crypto.h"

#endif
