/* AES whose context is the key alone: each block expands it anew. */
#ifndef AES_H
#define AES_H

#include "aes-parameters.h"

typedef struct {
    uint8_t key[AES_KEY_BYTES];
} aes_ctx;

void aes_init(aes_ctx *ctx, const uint8_t *key);
void aes_encrypt(const aes_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks);
void aes_decrypt(const aes_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks);

#endif
