#include "ctr.h"
#include "mode/counter.h"

enum { BLOCK = BLOCK_CIPHER_BLOCK_BYTES };

void ctr_init(ctr_ctx *ctx, const uint8_t *key, const uint8_t *iv) {
    block_cipher_init(&ctx->cipher, key);
    for (unsigned i = 0; i < BLOCK; i++)
        ctx->counter[i] = iv[i];
    ctx->left = 0;
}

/* Uses up to `length` bytes of the current key stream block; returns how many. */
static size_t use_up(ctr_ctx *ctx, uint8_t *out, const uint8_t *in, size_t length) {
    size_t bytes = ctx->left < length ? ctx->left : length;
    crypto_xor(out, in, ctx->stream + BLOCK - ctx->left, bytes);
    ctx->left -= bytes;
    return bytes;
}

crypto_status ctr_encrypt(ctr_ctx *ctx, uint8_t *out, const uint8_t *in, size_t length) {
    size_t done = use_up(ctx, out, in, length);
    size_t whole = (length - done) / BLOCK * BLOCK;
    counter_encrypt(&ctx->cipher, ctx->counter, BLOCK, COUNTER_PUBLIC, out + done, in + done,
                    whole);
    done += whole;
    if (done < length) {
        for (unsigned i = 0; i < BLOCK; i++)
            ctx->stream[i] = 0;
        counter_encrypt(&ctx->cipher, ctx->counter, BLOCK, COUNTER_PUBLIC, ctx->stream, ctx->stream,
                        BLOCK);
        ctx->left = BLOCK;
        use_up(ctx, out + done, in + done, length - done);
    }
    return CRYPTO_OK;
}

crypto_status ctr_decrypt(ctr_ctx *ctx, uint8_t *out, const uint8_t *in, size_t length) {
    return ctr_encrypt(ctx, out, in, length);
}
