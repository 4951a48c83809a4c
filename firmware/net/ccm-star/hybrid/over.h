/* The block cipher under CCM*: the radio's AES, which expands keys by itself. */
#ifndef OVER_H
#define OVER_H

#include "radio.h"

#include <stddef.h>

#if !RADIO_HAS_AES
#error "this radio has no AES: --wire ccm-star=net/ccm-star/software"
#endif

enum { BLOCK_CIPHER_KEY_BYTES = 16, BLOCK_CIPHER_BLOCK_BYTES = 16 };

typedef struct {
    const uint8_t *key;
} block_cipher_ctx;

static inline void block_cipher_init(block_cipher_ctx *ctx, const uint8_t *key) {
    ctx->key = key;
}

static inline void block_cipher_encrypt(const block_cipher_ctx *ctx, uint8_t *out,
                                        const uint8_t *in, size_t blocks) {
    radio_aes(ctx->key, out, in, (uint8_t)blocks);
}

#endif
