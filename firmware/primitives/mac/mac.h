/* The MAC kind. With the prefix p of a MAC:

     typedef struct { ... } p_ctx;
     enum { P_KEY_BYTES, P_TAG_BYTES };
     crypto_status p_init(p_ctx *ctx, const uint8_t *key, size_t key_length);
     void p_update(p_ctx *ctx, const uint8_t *data, size_t length);
     void p_final(p_ctx *ctx, uint8_t *tag);

   P_KEY_BYTES is the usual key length; p_init returns CRYPTO_BAD_LENGTH for a length that the MAC
   does not allow. Each call of p_update continues where the last one stopped. p_final writes
   P_TAG_BYTES bytes and wipes the context. Compare tags with crypto_equal. */
#include "crypto.h"
