/* The paper's notation: R = E(c) XOR c starts the offsets O_i = R x^(8 i), A_i = SCT(M_i XOR
   O_i). */
#include "marvin.h"
#include "aes-sct.h"

enum { BLOCK = MARVIN_TAG_BYTES };
_Static_assert((int)BLOCK == 12 || (int)BLOCK == 16, "Marvin: block of 96 or 128 bits");

/* Multiplies by x^8, modulo x^96 + x^16 + x^13 + x^11 + 1 or x^128 + x^29 + x^27 + x^24 + 1; the
   first byte is the most significant. */
static void next_offset(uint8_t o[BLOCK]) {
    unsigned top = o[0];
    for (unsigned i = 0; i < BLOCK - 1; i++)
        o[i] = o[i + 1];
    o[BLOCK - 1] = (uint8_t)top;
    if (BLOCK == 12) {
        o[BLOCK - 2] ^= (uint8_t)(top << 3 ^ top << 5);
        o[BLOCK - 3] ^= (uint8_t)(top ^ top >> 3 ^ top >> 5);
    } else {
        o[BLOCK - 4] ^= (uint8_t)(top ^ top << 3 ^ top << 5);
        o[BLOCK - 5] ^= (uint8_t)(top >> 3 ^ top >> 5);
    }
}

/* Adds A_i; block holds M_i and is destroyed. */
static void add_block(marvin_ctx *ctx) {
    next_offset(ctx->offset);
    for (unsigned i = 0; i < BLOCK; i++)
        ctx->block[i] ^= ctx->offset[i];
    block_cipher_sct(ctx->block);
    for (unsigned i = 0; i < BLOCK; i++)
        ctx->sum[i] ^= ctx->block[i];
    ctx->used = 0;
}

crypto_status marvin_init(marvin_ctx *ctx, const uint8_t *key, size_t key_length) {
    if (key_length != MARVIN_KEY_BYTES)
        return CRYPTO_BAD_LENGTH;
    block_cipher_init(&ctx->cipher, key);
    for (unsigned i = 0; i < BLOCK; i++)
        ctx->block[i] = 0;
    ctx->block[BLOCK - 1] = 0x2a; /* c */
    block_cipher_encrypt(&ctx->cipher, ctx->offset, ctx->block, 1);
    for (unsigned i = 0; i < BLOCK; i++)
        ctx->sum[i] = ctx->offset[i] ^= ctx->block[i];
    ctx->used = 0;
    ctx->length = 0;
    return CRYPTO_OK;
}

void marvin_update(marvin_ctx *ctx, const uint8_t *data, size_t length) {
    ctx->length += length;
    for (; length > 0; length--) {
        ctx->block[ctx->used++] = *data++;
        if (ctx->used == BLOCK)
            add_block(ctx);
    }
}

void marvin_final(marvin_ctx *ctx, uint8_t *tag) {
    if (ctx->used > 0) {
        while (ctx->used < BLOCK)
            ctx->block[ctx->used++] = 0;
        add_block(ctx);
    }
    /* A_0: rpad(bin(n - tau) || 1), which is a single one bit because the tag is a whole block, and
       lpad of the message's length in bits. */
    ctx->sum[0] ^= 0x80;
    ctx->sum[BLOCK - 1] ^= (uint8_t)(ctx->length << 3);
    ctx->length >>= 5;
    for (unsigned i = BLOCK - 1; i-- > BLOCK - 5; ctx->length >>= 8)
        ctx->sum[i] ^= (uint8_t)ctx->length;
    block_cipher_encrypt(&ctx->cipher, tag, ctx->sum, 1);
    crypto_wipe(ctx, sizeof *ctx);
}
