/* AES for RISC-V without tables, two blocks at a time: time and addresses do not depend on key or
   data. */
#ifndef AES_H
#define AES_H

#include "aes-parameters.h"

typedef struct {
    uint32_t round_keys[AES_ROUNDS + 1][8];
} aes_ctx;

void aes_init(aes_ctx *ctx, const uint8_t *key);
void aes_encrypt(const aes_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks);
void aes_decrypt(const aes_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks);

#endif
