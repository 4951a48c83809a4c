/* TinyJAMBU-128 (NIST LWC finalist, version 2). */
#ifndef TINYJAMBU_H
#define TINYJAMBU_H

#include "aead.h"

enum { TINYJAMBU_KEY_BYTES = 16, TINYJAMBU_NONCE_BYTES = 12, TINYJAMBU_TAG_BYTES = 8 };

typedef struct {
    uint32_t inverted_key[4]; /* little-endian words, inverted: the feedback is an XNOR */
} tinyjambu_ctx;

void tinyjambu_init(tinyjambu_ctx *ctx, const uint8_t *key);
crypto_status tinyjambu_encrypt(const tinyjambu_ctx *ctx, const aead_message *m);
crypto_status tinyjambu_decrypt(const tinyjambu_ctx *ctx, const aead_message *m);

/* Applies the keyed permutation for a multiple of 128 steps, after s[1] ^= frame. The state's bits
   0 to 127 are s[0] to s[3], lowest first. */
void tinyjambu_permute(const tinyjambu_ctx *ctx, uint32_t s[4], unsigned frame, unsigned steps);

/* Encrypts or decrypts whole words, at least one. Provided by implementations that define
   TINYJAMBU_CRYPT. */
void tinyjambu_crypt(const tinyjambu_ctx *ctx, uint32_t s[4], uint8_t *out, const uint8_t *in,
                     size_t words, int decrypting);

#endif
