/* The block-cipher kind. With the prefix p of a cipher:

     typedef struct { ... } p_ctx;
     enum { P_KEY_BYTES, P_BLOCK_BYTES };
     void p_init(p_ctx *ctx, const uint8_t *key);
     void p_encrypt(const p_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks);
     void p_decrypt(const p_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks);

   The key has P_KEY_BYTES bytes. Buffers have blocks * P_BLOCK_BYTES bytes and are either the same
   or do not overlap. No function can fail. Pass as many blocks at once as possible: some
   implementations process several together.

   A cipher for Marvin and LetterSoup has one more function,
     void p_sct(uint8_t *block);
   its square-complete transform: four unkeyed rounds, in place.

   An implementation that generates a counter's key stream faster than block by block defines
   P_HAS_COUNTER and
     void p_counter(const p_ctx *ctx, uint8_t *out, const uint8_t *in, const uint8_t *counter,
                    size_t blocks);
   which XORs each of `blocks` blocks with the encrypted counter and then increments the counter's
   last byte. That byte is at most 255 for the last block, so that nothing is carried; blocks is not
   0. */
#include "crypto.h"
