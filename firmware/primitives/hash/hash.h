/* The hash kind. With the prefix p of a hash:

     typedef struct { ... } p_ctx;
     enum { P_DIGEST_BYTES, P_BLOCK_BYTES };
     void p_init(p_ctx *ctx);
     void p_update(p_ctx *ctx, const uint8_t *data, size_t length);
     void p_final(p_ctx *ctx, uint8_t *digest);

   P_BLOCK_BYTES is the input block (a sponge's rate), as HMAC needs it. Each call of p_update
   continues where the last one stopped. p_final wipes the context. */
#include "crypto.h"
