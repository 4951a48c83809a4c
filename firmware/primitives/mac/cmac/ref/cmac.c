#include "cmac.h"

enum { BLOCK = CMAC_TAG_BYTES };
_Static_assert((int)BLOCK == 8 || (int)BLOCK == 12 || (int)BLOCK == 16, "CMAC: block size");

/* R_b of SP 800-38B, section 5.3: the lexicographically first irreducible polynomial of degree b
   with the fewest terms. The standard gives it for 64 and 128 bits; for 96 it is x^96 + x^10 + x^9
   + x^6 + 1 (Seroussi, Table of low-weight binary irreducible polynomials, HP Labs HPL-98-135). */
static const unsigned reduction = BLOCK == 8 ? 0x1b : BLOCK == 12 ? 0x641 : 0x87;

/* Doubles a block in GF(2^b), in constant time. */
static void times_x(uint8_t block[BLOCK]) {
    unsigned mask = 0u - (block[0] >> 7);
    /* The barrier keeps a compiler from branching on the bit. */
    __asm__ volatile("" : "+r"(mask));
    unsigned carry = 0;
    for (unsigned i = BLOCK; i-- > 0;) {
        unsigned doubled = (unsigned)block[i] << 1 | carry;
        block[i] = (uint8_t)doubled;
        carry = doubled >> 8;
    }
    block[BLOCK - 1] ^= (uint8_t)(reduction & mask);
    block[BLOCK - 2] ^= (uint8_t)((reduction & mask) >> 8);
}

crypto_status cmac_init(cmac_ctx *ctx, const uint8_t *key, size_t key_length) {
    if (key_length != CMAC_KEY_BYTES)
        return CRYPTO_BAD_LENGTH;
    block_cipher_init(&ctx->cipher, key);
    for (unsigned i = 0; i < BLOCK; i++)
        ctx->k1[i] = ctx->mac[i] = 0;
    block_cipher_encrypt(&ctx->cipher, ctx->k1, ctx->k1, 1);
    times_x(ctx->k1);
    ctx->used = 0;
    return CRYPTO_OK;
}

void cmac_update(cmac_ctx *ctx, const uint8_t *data, size_t length) {
    size_t used = ctx->used;
    while (length > 0) {
        /* A full block waits for more data, because the last block is processed differently. */
        if (used == BLOCK) {
            block_cipher_encrypt(&ctx->cipher, ctx->mac, ctx->mac, 1);
            used = 0;
        }
        size_t part = length < BLOCK - used ? length : BLOCK - used;
        crypto_xor(ctx->mac + used, ctx->mac + used, data, part);
        used += part;
        data += part;
        length -= part;
    }
    ctx->used = (uint8_t)used;
}

void cmac_final(cmac_ctx *ctx, uint8_t *tag) {
    if (ctx->used < BLOCK) {
        ctx->mac[ctx->used] ^= 0x80;
        times_x(ctx->k1);
    }
    for (unsigned i = 0; i < BLOCK; i++)
        ctx->mac[i] ^= ctx->k1[i];
    block_cipher_encrypt(&ctx->cipher, tag, ctx->mac, 1);
    crypto_wipe(ctx, sizeof *ctx);
}
