/* LetterSoup (Simplicio, Barbuda, Barreto, Carvalho, Margi, 2009) over a 96-bit cipher with a
   square-complete transform: nonces of a block, tags of 4 bytes up to a block.

   The paper pads a shorter nonce with zeros on the left, which would map nonces of different
   lengths to one; only the full length is accepted. */
#ifndef LETTERSOUP_H
#define LETTERSOUP_H

#include "aead.h"
#include "over.h"

enum {
    LETTERSOUP_KEY_BYTES = BLOCK_CIPHER_KEY_BYTES,
    LETTERSOUP_NONCE_BYTES = BLOCK_CIPHER_BLOCK_BYTES,
    LETTERSOUP_TAG_BYTES = BLOCK_CIPHER_BLOCK_BYTES
};

typedef struct {
    block_cipher_ctx cipher;
    uint8_t l[BLOCK_CIPHER_BLOCK_BYTES]; /* L: initial offset of the associated data */
} lettersoup_ctx;

void lettersoup_init(lettersoup_ctx *ctx, const uint8_t *key);
crypto_status lettersoup_encrypt(const lettersoup_ctx *ctx, const aead_message *m);
crypto_status lettersoup_decrypt(const lettersoup_ctx *ctx, const aead_message *m);

#endif
