/* Key derivation in two steps, from a secret that need not be uniform. Each primitive provides, for
   its prefix p:

     enum { P_SECRET_BYTES, P_SALT_BYTES, P_PRK_BYTES };
     void p_extract(uint8_t *prk, const uint8_t *salt, size_t salt_length,
                    const uint8_t *secret, size_t length)
     crypto_status p_expand(uint8_t *out, size_t out_length, const uint8_t *prk,
                            const uint8_t *info, size_t length)

   The sizes of secret and salt are the usual ones; any are accepted. p_expand returns
   CRYPTO_BAD_LENGTH for an output longer than the primitive can make. */
#ifndef KEY_DERIVATION_H
#define KEY_DERIVATION_H

#include "crypto.h"

#endif
