/* GIFT-COFB (NIST LWC finalist), fixsliced, with precomputed round keys. */
#ifndef GIFT_COFB_H
#define GIFT_COFB_H

#include "aead.h"

enum { GIFT_COFB_KEY_BYTES = 16, GIFT_COFB_NONCE_BYTES = 16, GIFT_COFB_TAG_BYTES = 16 };

typedef struct {
    uint32_t round_keys[40][2]; /* added to words 1 and 2, permuted as their round requires */
} gift_cofb_ctx;

void gift_cofb_init(gift_cofb_ctx *ctx, const uint8_t *key);
crypto_status gift_cofb_encrypt(const gift_cofb_ctx *ctx, const aead_message *m);
crypto_status gift_cofb_decrypt(const gift_cofb_ctx *ctx, const aead_message *m);

#endif
