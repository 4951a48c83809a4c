#include "ctr.h"

/* Blocks given to the cipher at once, so that one that works on several together can. */
enum { BLOCK = BLOCK_CIPHER_BLOCK_BYTES, BATCH = 4 };

void ctr_init(ctr_ctx *ctx, const uint8_t *key, const uint8_t *iv) {
    block_cipher_init(&ctx->cipher, key);
    for (unsigned i = 0; i < BLOCK; i++)
        ctx->counter[i] = iv[i];
    ctx->used = BLOCK;
}

static void next_counter(ctr_ctx *ctx, uint8_t *block) {
    for (unsigned i = 0; i < BLOCK; i++)
        block[i] = ctx->counter[i];
    /* The counter is public: stopping at the first byte without a carry leaks nothing. */
    for (unsigned i = BLOCK; i-- > 0 && ++ctx->counter[i] == 0;)
        ;
}

crypto_status ctr_encrypt(ctr_ctx *ctx, uint8_t *out, const uint8_t *in, size_t length) {
    for (; length > 0 && ctx->used < BLOCK; length--)
        *out++ = *in++ ^ ctx->stream[ctx->used++];
    if (length >= BLOCK) {
        uint8_t stream[BATCH * BLOCK];
        do {
            unsigned blocks = length >= BATCH * BLOCK ? BATCH : (unsigned)(length / BLOCK);
            for (unsigned i = 0; i < blocks; i++)
                next_counter(ctx, stream + i * BLOCK);
            block_cipher_encrypt(&ctx->cipher, stream, stream, blocks);
            for (unsigned i = 0; i < blocks * BLOCK; i++)
                *out++ = *in++ ^ stream[i];
            length -= blocks * BLOCK;
        } while (length >= BLOCK);
        crypto_wipe(stream, sizeof stream);
    }
    if (length > 0) {
        next_counter(ctx, ctx->stream);
        block_cipher_encrypt(&ctx->cipher, ctx->stream, ctx->stream, 1);
        for (ctx->used = 0; ctx->used < length; ctx->used++)
            *out++ = *in++ ^ ctx->stream[ctx->used];
    }
    return CRYPTO_OK;
}

crypto_status ctr_decrypt(ctr_ctx *ctx, uint8_t *out, const uint8_t *in, size_t length) {
    return ctr_encrypt(ctx, out, in, length);
}
