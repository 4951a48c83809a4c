/* The mode kind: confidentiality with a block cipher. With the prefix p of a mode:

     typedef struct { ... } p_ctx;
     enum { P_KEY_BYTES, P_IV_BYTES };
     void p_init(p_ctx *ctx, const uint8_t *key, const uint8_t *iv);
     crypto_status p_encrypt(p_ctx *ctx, uint8_t *out, const uint8_t *in, size_t length);
     crypto_status p_decrypt(p_ctx *ctx, uint8_t *out, const uint8_t *in, size_t length);

   P_IV_BYTES is 0 if the mode has no IV. Modes of whole blocks return CRYPTO_BAD_LENGTH for any
   other length. Each call continues where the last one stopped (chaining value, counter). Buffers
   are either the same or do not overlap. */
#include "crypto.h"
