#include "cbc.h"

enum { BLOCK = BLOCK_CIPHER_BLOCK_BYTES };

void cbc_init(cbc_ctx *ctx, const uint8_t *key, const uint8_t *iv) {
    block_cipher_init(&ctx->cipher, key);
    for (unsigned i = 0; i < BLOCK; i++)
        ctx->chain[i] = iv[i];
}

crypto_status cbc_encrypt(cbc_ctx *ctx, uint8_t *out, const uint8_t *in, size_t length) {
    if (length % BLOCK != 0)
        return CRYPTO_BAD_LENGTH;
    const uint8_t *chain = ctx->chain;
    for (; length > 0; length -= BLOCK, in += BLOCK, out += BLOCK) {
        crypto_xor(out, in, chain, BLOCK);
        block_cipher_encrypt(&ctx->cipher, out, out, 1);
        chain = out;
    }
    for (unsigned i = 0; i < BLOCK; i++)
        ctx->chain[i] = chain[i];
    return CRYPTO_OK;
}

/* Processes the blocks from last to first, so that in place each ciphertext block still exists when
   its successor needs it, and only one block is copied. */
crypto_status cbc_decrypt(cbc_ctx *ctx, uint8_t *out, const uint8_t *in, size_t length) {
    if (length % BLOCK != 0)
        return CRYPTO_BAD_LENGTH;
    if (length == 0)
        return CRYPTO_OK;
    uint8_t last[BLOCK];
    for (unsigned i = 0; i < BLOCK; i++)
        last[i] = in[length - BLOCK + i];
    if (out != in) { /* all blocks at once: the cipher may process several together */
        block_cipher_decrypt(&ctx->cipher, out, in, length / BLOCK);
        crypto_xor(out + BLOCK, out + BLOCK, in, length - BLOCK);
    } else {
        for (size_t at = length - BLOCK; at > 0; at -= BLOCK) {
            block_cipher_decrypt(&ctx->cipher, out + at, in + at, 1);
            crypto_xor(out + at, out + at, in + at - BLOCK, BLOCK);
        }
        block_cipher_decrypt(&ctx->cipher, out, in, 1);
    }
    for (unsigned i = 0; i < BLOCK; i++) {
        out[i] ^= ctx->chain[i];
        ctx->chain[i] = last[i];
    }
    return CRYPTO_OK;
}
