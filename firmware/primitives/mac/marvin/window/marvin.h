/* Marvin over a wide-trail cipher of 96 or 128 bits (Curupira, AES), with tags of a block. */
#ifndef MARVIN_H
#define MARVIN_H

#include "mac.h"
#include "over.h"

enum {
    MARVIN_KEY_BYTES = BLOCK_CIPHER_KEY_BYTES,
    MARVIN_TAG_BYTES = BLOCK_CIPHER_BLOCK_BYTES,
    MARVIN_ROOM = 16
};

/* A block, as words for operations on all of it and as bytes. */
typedef union {
    uint16_t words[MARVIN_TAG_BYTES / 2];
    uint8_t bytes[MARVIN_TAG_BYTES];
} marvin_block;

typedef struct {
    block_cipher_ctx cipher;
    marvin_block sum;   /* R and the A_i so far */
    marvin_block block; /* bytes of an incomplete block */
    /* O_i is the block at offset[at]; multiplying it by x^8 advances it by a byte. */
    uint8_t offset[MARVIN_TAG_BYTES + MARVIN_ROOM];
    uint8_t at;
    uint8_t used; /* bytes in block, less than a full block between calls */
    uint32_t length;
} marvin_ctx;

crypto_status marvin_init(marvin_ctx *ctx, const uint8_t *key, size_t key_length);
void marvin_update(marvin_ctx *ctx, const uint8_t *data, size_t length);
void marvin_final(marvin_ctx *ctx, uint8_t *tag);

#endif
