/* AES by the CC2420 of a TelosB. A context stores its key; the radio holds the key of the context
   used last. */
#ifndef AES_H
#define AES_H

#include "aes-parameters.h"

typedef struct {
    uint8_t key[AES_KEY_BYTES];
} aes_ctx;

void aes_init(aes_ctx *ctx, const uint8_t *key);
void aes_encrypt(const aes_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks);

#endif
