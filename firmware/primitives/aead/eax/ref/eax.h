/* EAX (Bellare, Rogaway, Wagner, FSE 2004) over a block cipher of 64, 96 or 128 bits: nonces of any
   length, tags of 1 byte up to a block. */
#ifndef EAX_H
#define EAX_H

#include "aead.h"
#include "over.h"

enum {
    EAX_KEY_BYTES = BLOCK_CIPHER_KEY_BYTES,
    EAX_NONCE_BYTES = BLOCK_CIPHER_BLOCK_BYTES,
    EAX_TAG_BYTES = BLOCK_CIPHER_BLOCK_BYTES
};

typedef struct {
    block_cipher_ctx cipher;
    uint8_t first[3][BLOCK_CIPHER_BLOCK_BYTES]; /* E(t), from which OMAC^t continues; E(0) is L */
    uint8_t b[BLOCK_CIPHER_BLOCK_BYTES];        /* 2L: masks a complete last block of OMAC */
    uint8_t p[BLOCK_CIPHER_BLOCK_BYTES];        /* 4L: masks a padded last block */
} eax_ctx;

void eax_init(eax_ctx *ctx, const uint8_t *key);
crypto_status eax_encrypt(const eax_ctx *ctx, const aead_message *m);
crypto_status eax_decrypt(const eax_ctx *ctx, const aead_message *m);

#endif
