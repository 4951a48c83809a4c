/* AES for RISC-V, with tables. */
#ifndef AES_H
#define AES_H

#include "aes-parameters.h"

typedef struct {
    uint32_t encrypt_keys[4 * (AES_ROUNDS + 1)];
    uint32_t
        decrypt_keys[4 * (AES_ROUNDS + 1)]; /* for the equivalent inverse cipher, FIPS 197 5.3.5 */
} aes_ctx;

void aes_init(aes_ctx *ctx, const uint8_t *key);
void aes_encrypt(const aes_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks);
void aes_decrypt(const aes_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks);

#define AES_HAS_COUNTER
void aes_counter(const aes_ctx *ctx, uint8_t *out, const uint8_t *in, const uint8_t *counter,
                 size_t blocks);

#endif
