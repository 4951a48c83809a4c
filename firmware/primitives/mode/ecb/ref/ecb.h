/* Electronic codebook: each block separately. It reveals which blocks are equal; it is measured
   because the papers did so, and as the cost of a block cipher over many blocks. */
#ifndef ECB_H
#define ECB_H

#include "mode.h"
#include "over.h"

enum { ECB_KEY_BYTES = BLOCK_CIPHER_KEY_BYTES, ECB_IV_BYTES = 0 };

typedef struct {
    block_cipher_ctx cipher;
} ecb_ctx;

void ecb_init(ecb_ctx *ctx, const uint8_t *key, const uint8_t *iv);
crypto_status ecb_encrypt(ecb_ctx *ctx, uint8_t *out, const uint8_t *in, size_t length);
crypto_status ecb_decrypt(ecb_ctx *ctx, uint8_t *out, const uint8_t *in, size_t length);

#endif
