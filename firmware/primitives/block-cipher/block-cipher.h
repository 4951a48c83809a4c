/* The block-cipher kind. With the prefix p of a cipher:

     typedef struct { ... } p_ctx;
     enum { P_KEY_BYTES, P_BLOCK_BYTES };
     void p_init(p_ctx *ctx, const uint8_t *key);
     void p_encrypt(const p_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks);
     void p_decrypt(const p_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks);

   The key has P_KEY_BYTES bytes. Buffers have blocks * P_BLOCK_BYTES bytes and are either the same
   or do not overlap. Nothing can fail. Give as many blocks at once as there are: some
   implementations work on several together.

   A cipher that Marvin and LetterSoup are built over has one function more,
     void p_sct(uint8_t *block);
   its square-complete transform: four rounds without keys, in place.

   An implementation that makes a stream from a counter faster than block by block defines
   P_HAS_COUNTER and void p_counter(const p_ctx *ctx, uint8_t *out, const uint8_t *in, const uint8_t
   *counter, size_t blocks); which adds to each of `blocks` blocks the encrypted counter, whose last
   byte then grows by one. The last byte of the last one is 255 at most, so that nothing is carried;
   blocks is not 0. */
#include "crypto.h"
