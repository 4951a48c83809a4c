/* SHA-256: shared by its implementations. Each provides sha256_compress. */
#ifndef SHA256_H
#define SHA256_H

#include "hash.h"

enum { SHA256_DIGEST_BYTES = 32, SHA256_BLOCK_BYTES = 64 };

typedef struct {
    uint32_t state[8];
    uint64_t length; /* bytes */
    uint8_t block[SHA256_BLOCK_BYTES];
} sha256_ctx;

void sha256_init(sha256_ctx *ctx);
void sha256_update(sha256_ctx *ctx, const uint8_t *data, size_t length);
void sha256_final(sha256_ctx *ctx, uint8_t *digest);

/* Compresses whole blocks into the state: FIPS 180-4, section 6.2.2. */
void sha256_compress(uint32_t state[8], const uint8_t *data, size_t blocks);

#endif
