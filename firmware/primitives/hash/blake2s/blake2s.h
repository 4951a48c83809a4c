/* BLAKE2s without a key, 32 bytes of digest: shared by its implementations. Each provides
   blake2s_compress. */
#ifndef BLAKE2S_H
#define BLAKE2S_H

#include "hash.h"

enum { BLAKE2S_DIGEST_BYTES = 32, BLAKE2S_BLOCK_BYTES = 64 };

typedef struct {
    uint32_t h[8];
    uint32_t t[2]; /* bytes hashed, including the block that is being compressed */
    unsigned fill; /* bytes in block */
    uint8_t block[BLAKE2S_BLOCK_BYTES];
} blake2s_ctx;

void blake2s_init(blake2s_ctx *ctx);
void blake2s_update(blake2s_ctx *ctx, const uint8_t *data, size_t length);
void blake2s_final(blake2s_ctx *ctx, uint8_t *digest);

/* The function F of RFC 7693, section 3.2. last is not 0 for the last block. */
void blake2s_compress(uint32_t h[8], const uint8_t *block, const uint32_t t[2], unsigned last);

#endif
