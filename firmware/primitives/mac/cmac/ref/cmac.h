/* CMAC over a block cipher of 64, 96 or 128 bits. */
#ifndef CMAC_H
#define CMAC_H

#include "mac.h"
#include "over.h"

enum { CMAC_KEY_BYTES = BLOCK_CIPHER_KEY_BYTES, CMAC_TAG_BYTES = BLOCK_CIPHER_BLOCK_BYTES };

typedef struct {
    block_cipher_ctx cipher;
    uint8_t k1[CMAC_TAG_BYTES]; /* subkey for a complete last block; K2 is its double */
    uint8_t mac[CMAC_TAG_BYTES];
    uint8_t used; /* bytes of the last block already added to mac; 0 only at the start */
} cmac_ctx;

crypto_status cmac_init(cmac_ctx *ctx, const uint8_t *key, size_t key_length);
void cmac_update(cmac_ctx *ctx, const uint8_t *data, size_t length);
void cmac_final(cmac_ctx *ctx, uint8_t *tag);

#endif
