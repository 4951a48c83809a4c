/* SipHash-2-4 with 64-bit tags. */
#ifndef SIPHASH_H
#define SIPHASH_H

#include "mac.h"

enum { SIPHASH_KEY_BYTES = 16, SIPHASH_TAG_BYTES = 8 };

typedef struct {
    uint64_t v[4];
    uint8_t block[8];
    uint8_t used;   /* bytes in block, below 8 between calls */
    uint8_t length; /* of the message, modulo 256 */
} siphash_ctx;

crypto_status siphash_init(siphash_ctx *ctx, const uint8_t *key, size_t key_length);
void siphash_update(siphash_ctx *ctx, const uint8_t *data, size_t length);
void siphash_final(siphash_ctx *ctx, uint8_t *tag);

/* Compresses whole blocks of 8 bytes into the state: section 2.2 of the paper, SipHash-2-4. */
void siphash_compress(uint64_t v[4], const uint8_t *data, size_t blocks);

/* Absorbs the last block, a word, returns the tag and wipes the state. Provided by implementations
   that define SIPHASH_FINISH. */
uint64_t siphash_finish(uint64_t v[4], uint64_t last);

#endif
