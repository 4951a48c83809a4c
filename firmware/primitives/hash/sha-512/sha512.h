/* SHA-512: shared by its implementations. Each provides sha512_compress. */
#ifndef SHA512_H
#define SHA512_H

#include "hash.h"

enum { SHA512_DIGEST_BYTES = 64, SHA512_BLOCK_BYTES = 128 };

typedef struct {
    uint64_t h[8];
    uint64_t length; /* bytes so far */
    uint8_t block[SHA512_BLOCK_BYTES];
} sha512_ctx;

void sha512_init(sha512_ctx *ctx);
void sha512_update(sha512_ctx *ctx, const uint8_t *data, size_t length);
void sha512_final(sha512_ctx *ctx, uint8_t *digest);

/* Compresses a block into the state: FIPS 180-4, section 6.4.2. */
void sha512_compress(uint64_t state[8], const uint8_t *block);

#endif
