/* HMAC over any hash. The context holds both hashes with the key already absorbed: a copy of it
   starts another message under the same key without hashing the key again. */
#ifndef HMAC_H
#define HMAC_H

#include "mac.h"
#include "over.h"

enum { HMAC_KEY_BYTES = HASH_DIGEST_BYTES, HMAC_TAG_BYTES = HASH_DIGEST_BYTES };

typedef struct {
    hash_ctx inner, outer;
} hmac_ctx;

crypto_status hmac_init(hmac_ctx *ctx, const uint8_t *key, size_t key_length);
void hmac_update(hmac_ctx *ctx, const uint8_t *data, size_t length);
void hmac_final(hmac_ctx *ctx, uint8_t *tag);

#endif
