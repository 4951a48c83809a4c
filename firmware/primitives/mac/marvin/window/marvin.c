/* The paper's notation: R = E(c) XOR c starts the offsets O_i = R x^(8 i), A_i = SCT(M_i XOR
   O_i). */
#include "marvin.h"
#include "aes-sct.h"

enum { BLOCK = MARVIN_TAG_BYTES };
_Static_assert((int)BLOCK == 12 || (int)BLOCK == 16, "Marvin: block of 96 or 128 bits");

/* Multiplies the offset by x^8, modulo x^96 + x^16 + x^13 + x^11 + 1 or x^128 + x^29 + x^27 + x^24
   + 1. The first byte is the most significant, and instead of moving bytes within the block, the
   block advances in its array. */
static const uint8_t *next_offset(marvin_ctx *ctx) {
    if (ctx->at == MARVIN_ROOM) {
        for (unsigned i = 0; i < BLOCK; i++)
            ctx->offset[i] = ctx->offset[MARVIN_ROOM + i];
        ctx->at = 0;
    }
    uint8_t *o = ctx->offset + ctx->at++;
    unsigned top = o[0];
    o[BLOCK] = (uint8_t)top;
    if (BLOCK == 12) {
        o[BLOCK - 1] ^= (uint8_t)(top << 3 ^ top << 5);
        o[BLOCK - 2] ^= (uint8_t)(top ^ top >> 3 ^ top >> 5);
    } else {
        o[BLOCK - 3] ^= (uint8_t)(top ^ top << 3 ^ top << 5);
        o[BLOCK - 4] ^= (uint8_t)(top >> 3 ^ top >> 5);
    }
    return o + 1;
}

static void add_block(marvin_ctx *ctx, const uint8_t *data) {
    const uint8_t *o = next_offset(ctx);
    crypto_xor(ctx->block.bytes, data, o, BLOCK);
    block_cipher_sct(ctx->block.bytes);
    crypto_xor(ctx->sum.bytes, ctx->sum.bytes, ctx->block.bytes, BLOCK);
}

crypto_status marvin_init(marvin_ctx *ctx, const uint8_t *key, size_t key_length) {
    if (key_length != MARVIN_KEY_BYTES)
        return CRYPTO_BAD_LENGTH;
    block_cipher_init(&ctx->cipher, key);
    for (unsigned i = 0; i < BLOCK; i++)
        ctx->sum.bytes[i] = 0;
    ctx->sum.bytes[BLOCK - 1] = 0x2a; /* c */
    block_cipher_encrypt(&ctx->cipher, ctx->offset, ctx->sum.bytes, 1);
    ctx->offset[BLOCK - 1] ^= 0x2a;
    for (unsigned i = 0; i < BLOCK; i++)
        ctx->sum.bytes[i] = ctx->offset[i];
    ctx->at = 0;
    ctx->used = 0;
    ctx->length = 0;
    return CRYPTO_OK;
}

void marvin_update(marvin_ctx *ctx, const uint8_t *data, size_t length) {
    ctx->length += length;
    unsigned used = ctx->used;
    while (length > 0) {
        if (used == 0 && length >= BLOCK) {
            add_block(ctx, data);
            data += BLOCK;
            length -= BLOCK;
            continue;
        }
        ctx->block.bytes[used++] = *data++;
        length--;
        if (used == BLOCK) {
            add_block(ctx, ctx->block.bytes);
            used = 0;
        }
    }
    ctx->used = (uint8_t)used;
}

void marvin_final(marvin_ctx *ctx, uint8_t *tag) {
    if (ctx->used > 0) {
        for (unsigned i = ctx->used; i < BLOCK; i++)
            ctx->block.bytes[i] = 0;
        add_block(ctx, ctx->block.bytes);
    }
    /* A_0: rpad(bin(n - tau) || 1), which is a single one bit because the tag is a whole block, and
       lpad of the message's length in bits. */
    uint8_t *sum = ctx->sum.bytes;
    sum[0] ^= 0x80;
    sum[BLOCK - 1] ^= (uint8_t)(ctx->length << 3);
    ctx->length >>= 5;
    for (unsigned i = BLOCK - 1; i-- > BLOCK - 5; ctx->length >>= 8)
        sum[i] ^= (uint8_t)ctx->length;
    block_cipher_encrypt(&ctx->cipher, tag, sum, 1);
    crypto_wipe(ctx, sizeof *ctx);
}
