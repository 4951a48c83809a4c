/* The AEAD kind. With the prefix p of a scheme:

     typedef struct { ... } p_ctx;
     enum { P_KEY_BYTES, P_NONCE_BYTES, P_TAG_BYTES };
     void p_init(p_ctx *ctx, const uint8_t *key);
     crypto_status p_encrypt(const p_ctx *ctx, const aead_message *m);
     crypto_status p_decrypt(const p_ctx *ctx, const aead_message *m);

   P_NONCE_BYTES and P_TAG_BYTES are the usual lengths; a length that the scheme does not allow
   gives CRYPTO_BAD_LENGTH before anything is written. p_encrypt writes out and tag. p_decrypt
   reads tag and returns CRYPTO_BAD_TAG when it is wrong; out then holds zeros. */
#ifndef AEAD_H
#define AEAD_H

#include "crypto.h"

typedef struct {
    const uint8_t *nonce;
    size_t nonce_length;
    const uint8_t *ad; /* associated data: authenticated, not encrypted */
    size_t ad_length;
    const uint8_t *in; /* plaintext to p_encrypt, ciphertext to p_decrypt */
    uint8_t *out;      /* the same buffer as in, or one that does not overlap it */
    size_t length;     /* length of in and of out */
    uint8_t *tag;
    size_t tag_length;
} aead_message;

/* The last step of every p_decrypt: compares the computed tag with the received one, wipes the
   computed one, and wipes the plaintext if they differ. */
static inline crypto_status aead_check_tag(const aead_message *m, uint8_t *computed) {
    int equal = crypto_equal(computed, m->tag, m->tag_length);
    crypto_wipe(computed, m->tag_length);
    if (equal) /* public: whether the tag is right */
        return CRYPTO_OK;
    crypto_wipe(m->out, m->length);
    return CRYPTO_BAD_TAG;
}

#endif
