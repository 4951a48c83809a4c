/* The stream-cipher kind. With the prefix p of a cipher:

     typedef struct { ... } p_ctx;
     enum { P_KEY_BYTES, P_NONCE_BYTES };
     void p_init(p_ctx *ctx, const uint8_t *key, const uint8_t *nonce);
     void p_encrypt(p_ctx *ctx, uint8_t *out, const uint8_t *in, size_t length);

   Each call of p_encrypt continues where the last one stopped: any split of a message gives the
   same bytes. Decryption is encryption. Buffers are either the same or do not overlap. */
#include "crypto.h"
