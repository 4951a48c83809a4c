#include "ctr.h"

enum { BLOCK = BLOCK_CIPHER_BLOCK_BYTES };

void ctr_init(ctr_ctx *ctx, const uint8_t *key, const uint8_t *iv) {
    block_cipher_init(&ctx->cipher, key);
    for (unsigned i = 0; i < BLOCK; i++)
        ctx->counter[i] = iv[i];
    ctx->made = 0;
    ctx->used = 0;
}

static void next_counter(ctr_ctx *ctx, uint8_t *block) {
    for (unsigned i = 0; i < BLOCK; i++)
        block[i] = ctx->counter[i];
    /* The counter is public: to stop at the first byte without a carry leaks nothing. */
#pragma GCC unroll 1
    for (unsigned i = BLOCK; i-- > 0;)
        if (++ctx->counter[i] != 0)
            break;
}

/* As many blocks of stream as length needs, up to a batch. */
static void make_stream(ctr_ctx *ctx, size_t length) {
    unsigned blocks = 0;
    do {
        next_counter(ctx, ctx->stream + blocks * BLOCK);
        blocks++;
    } while (blocks < CTR_BATCH_BLOCKS && blocks * BLOCK < length);
    block_cipher_encrypt(&ctx->cipher, ctx->stream, ctx->stream, blocks);
    ctx->made = blocks * BLOCK;
    ctx->used = 0;
}

crypto_status ctr_encrypt(ctr_ctx *ctx, uint8_t *out, const uint8_t *in, size_t length) {
    while (length > 0) {
        if (ctx->used == ctx->made)
            make_stream(ctx, length);
        const uint8_t *stream = ctx->stream + ctx->used;
        unsigned bytes = ctx->made - ctx->used;
        if (length < bytes)
            bytes = (unsigned)length;
        for (unsigned i = 0; i < bytes; i++)
            out[i] = in[i] ^ stream[i];
        out += bytes;
        in += bytes;
        ctx->used += bytes;
        length -= bytes;
    }
    return CRYPTO_OK;
}

crypto_status ctr_decrypt(ctr_ctx *ctx, uint8_t *out, const uint8_t *in, size_t length) {
    return ctr_encrypt(ctx, out, in, length);
}
