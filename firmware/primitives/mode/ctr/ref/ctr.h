/* Counter mode. The IV is the first counter block; the whole block is the counter, big-endian (the
   standard incrementing function of SP 800-38A, B.1, with m = b). */
#ifndef CTR_H
#define CTR_H

#include "mode.h"
#include "over.h"

enum { CTR_KEY_BYTES = BLOCK_CIPHER_KEY_BYTES, CTR_IV_BYTES = BLOCK_CIPHER_BLOCK_BYTES };

typedef struct {
    block_cipher_ctx cipher;
    uint8_t counter[BLOCK_CIPHER_BLOCK_BYTES];
    uint8_t stream[BLOCK_CIPHER_BLOCK_BYTES];
    size_t left; /* unused bytes at the end of stream */
} ctr_ctx;

void ctr_init(ctr_ctx *ctx, const uint8_t *key, const uint8_t *iv);
crypto_status ctr_encrypt(ctr_ctx *ctx, uint8_t *out, const uint8_t *in, size_t length);
crypto_status ctr_decrypt(ctr_ctx *ctx, uint8_t *out, const uint8_t *in, size_t length);

#endif
