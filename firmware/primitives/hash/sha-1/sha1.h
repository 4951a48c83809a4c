/* SHA-1: shared by its implementations. Each provides sha1_compress. */
#ifndef SHA1_H
#define SHA1_H

#include "hash.h"

enum { SHA1_DIGEST_BYTES = 20, SHA1_BLOCK_BYTES = 64 };

typedef struct {
    uint32_t h[5];
    uint64_t length; /* bytes so far */
    uint8_t block[SHA1_BLOCK_BYTES];
} sha1_ctx;

void sha1_init(sha1_ctx *ctx);
void sha1_update(sha1_ctx *ctx, const uint8_t *data, size_t length);
void sha1_final(sha1_ctx *ctx, uint8_t *digest);

/* Compresses a block into the state: FIPS 180-4, section 6.1. */
void sha1_compress(uint32_t h[5], const uint8_t *block);

#endif
