/* AES by the accelerator of the CC2538 and of CC26x0 chips, block by block. A context stores its
   key; the engine holds the key of the context used last. */
#ifndef AES_TI_ENGINE_H
#define AES_TI_ENGINE_H

#include "aes-parameters.h"

typedef struct {
    uint32_t key[AES_KEY_WORDS]; /* the DMA fetches the key as whole words */
} aes_ctx;

void aes_init(aes_ctx *ctx, const uint8_t *key);
void aes_encrypt(const aes_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks);
void aes_decrypt(const aes_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks);

#endif
