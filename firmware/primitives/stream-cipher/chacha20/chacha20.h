/* ChaCha20 with a 96-bit nonce and a 32-bit block counter that starts at 0: shared by its
   implementations. Each provides chacha20_block or, if it defines CHACHA20_XOR, chacha20_xor. */
#ifndef CHACHA20_H
#define CHACHA20_H

#include "stream-cipher.h"

enum { CHACHA20_KEY_BYTES = 32, CHACHA20_NONCE_BYTES = 12, CHACHA20_BLOCK_BYTES = 64 };

typedef struct {
    uint32_t state[16]; /* RFC 8439, section 2.3: constants, key, counter, nonce */
    _Alignas(4) uint8_t stream[CHACHA20_BLOCK_BYTES]; /* of the block before the counter */
    unsigned used;                                    /* bytes of stream already used */
} chacha20_ctx;

void chacha20_init(chacha20_ctx *ctx, const uint8_t *key, const uint8_t *nonce);
void chacha20_encrypt(chacha20_ctx *ctx, uint8_t *out, const uint8_t *in, size_t length);

/* The block function of RFC 8439, section 2.3. stream is aligned for 32-bit words. */
void chacha20_block(uint8_t stream[CHACHA20_BLOCK_BYTES], const uint32_t state[16]);

/* out = in XOR the key stream of the next blocks, at least one; advances the counter past them. out
   may be in. */
void chacha20_xor(uint32_t state[16], uint8_t *out, const uint8_t *in, size_t blocks);

#endif
