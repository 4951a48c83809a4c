/* Marvin over a wide-trail cipher of 96 or 128 bits (Curupira, AES), with tags of a block. */
#ifndef MARVIN_H
#define MARVIN_H

#include "mac.h"
#include "over.h"

enum { MARVIN_KEY_BYTES = BLOCK_CIPHER_KEY_BYTES, MARVIN_TAG_BYTES = BLOCK_CIPHER_BLOCK_BYTES };

typedef struct {
    block_cipher_ctx cipher;
    uint8_t offset[MARVIN_TAG_BYTES]; /* O_i */
    uint8_t sum[MARVIN_TAG_BYTES];    /* R and the A_i so far */
    uint8_t block[MARVIN_TAG_BYTES];
    uint8_t used; /* bytes in block, less than a full block between calls */
    uint32_t length;
} marvin_ctx;

crypto_status marvin_init(marvin_ctx *ctx, const uint8_t *key, size_t key_length);
void marvin_update(marvin_ctx *ctx, const uint8_t *data, size_t length);
void marvin_final(marvin_ctx *ctx, uint8_t *tag);

#endif
