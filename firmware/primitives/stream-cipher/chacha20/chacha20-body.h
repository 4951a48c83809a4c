/* Streaming over chacha20_block; included by one C file of each implementation. */
#include "chacha20.h"

static uint32_t chacha20_load(const uint8_t *p) {
    return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

void chacha20_init(chacha20_ctx *ctx, const uint8_t *key, const uint8_t *nonce) {
    ctx->state[0] = 0x61707865; /* "expand 32-byte k" */
    ctx->state[1] = 0x3320646e;
    ctx->state[2] = 0x79622d32;
    ctx->state[3] = 0x6b206574;
    for (unsigned i = 0; i < 8; i++)
        ctx->state[4 + i] = chacha20_load(key + 4 * i);
    ctx->state[12] = 0;
    for (unsigned i = 0; i < 3; i++)
        ctx->state[13 + i] = chacha20_load(nonce + 4 * i);
    ctx->used = CHACHA20_BLOCK_BYTES;
}

#ifdef CHACHA20_XOR
#define CHACHA20_PIECES CRYPTO_NOT_INLINE static
#else
#define CHACHA20_PIECES static inline
#endif

/* Generates and stores the next block of the key stream. */
static void chacha20_next(chacha20_ctx *ctx) {
#ifdef CHACHA20_XOR
    static const uint8_t zeros[CHACHA20_BLOCK_BYTES];
    chacha20_xor(ctx->state, ctx->stream, zeros, 1);
#else
    chacha20_block(ctx->stream, ctx->state);
    ctx->state[12]++;
#endif
    ctx->used = 0;
}

/* Handles any length. */
CHACHA20_PIECES void chacha20_pieces(chacha20_ctx *ctx, uint8_t *out, const uint8_t *in,
                                     size_t length) {
    while (length > 0) {
        unsigned bytes = CHACHA20_BLOCK_BYTES - ctx->used;
        if (bytes == 0) {
#ifdef CHACHA20_XOR
            size_t whole = length - length % CHACHA20_BLOCK_BYTES;
            if (whole > 0) {
                chacha20_xor(ctx->state, out, in, whole / CHACHA20_BLOCK_BYTES);
                out += whole;
                in += whole;
                length -= whole;
                continue;
            }
#endif
            chacha20_next(ctx);
            bytes = CHACHA20_BLOCK_BYTES;
        }
        if (length < bytes)
            bytes = (unsigned)length;
        crypto_xor(out, in, ctx->stream + ctx->used, bytes);
        out += bytes;
        in += bytes;
        ctx->used += bytes;
        length -= bytes;
    }
}

void chacha20_encrypt(chacha20_ctx *ctx, uint8_t *out, const uint8_t *in, size_t length) {
#ifdef CHACHA20_XOR
    if (ctx->used == CHACHA20_BLOCK_BYTES && length > 0 && length % CHACHA20_BLOCK_BYTES == 0) {
        chacha20_xor(ctx->state, out, in, length / CHACHA20_BLOCK_BYTES);
        return;
    }
#endif
    chacha20_pieces(ctx, out, in, length);
}
