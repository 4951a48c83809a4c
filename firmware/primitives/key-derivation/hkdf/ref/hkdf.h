/* HKDF over any hash. */
#ifndef HKDF_H
#define HKDF_H

#include "hmac.h"
#include "key-derivation.h"

enum {
    HKDF_SECRET_BYTES = HASH_DIGEST_BYTES,
    HKDF_SALT_BYTES = HASH_DIGEST_BYTES,
    HKDF_PRK_BYTES = HASH_DIGEST_BYTES
};

typedef struct {
    char unused; /* all working data is on the stack */
} hkdf_ctx;

void hkdf_extract(uint8_t *prk, const uint8_t *salt, size_t salt_length, const uint8_t *secret,
                  size_t length);
crypto_status hkdf_expand(uint8_t *out, size_t out_length, const uint8_t *prk, const uint8_t *info,
                          size_t length);

#endif
