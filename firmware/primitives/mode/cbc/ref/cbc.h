/* Cipher block chaining of whole blocks; the caller pads. */
#ifndef CBC_H
#define CBC_H

#include "mode.h"
#include "over.h"

enum { CBC_KEY_BYTES = BLOCK_CIPHER_KEY_BYTES, CBC_IV_BYTES = BLOCK_CIPHER_BLOCK_BYTES };

typedef struct {
    block_cipher_ctx cipher;
    uint8_t chain[BLOCK_CIPHER_BLOCK_BYTES]; /* the IV, then the last ciphertext block */
} cbc_ctx;

void cbc_init(cbc_ctx *ctx, const uint8_t *key, const uint8_t *iv);
crypto_status cbc_encrypt(cbc_ctx *ctx, uint8_t *out, const uint8_t *in, size_t length);
crypto_status cbc_decrypt(cbc_ctx *ctx, uint8_t *out, const uint8_t *in, size_t length);

#endif
