/* Ascon-Hash256 (SP 800-232, section 5.1); an implementation folder includes this file. */
#include "ascon-hash256-sponge.h"

void ascon_hash256_init(ascon_hash256_ctx *ctx) {
    /* The state after the first permutation of the initial value 0000080100cc0002 (SP 800-232,
       appendix A, table 12). */
    static const uint64_t initial[5] = {0x9b1e5494e934d681, 0x4bc3a01e333751d2, 0xae65396c6b34b81a,
                                        0x3c7fd4a4d56a4db3, 0x1a5c464906c5976d};
    for (unsigned i = 0; i < 5; i++)
        ctx->state.x[i] = ascon_word(initial[i]);
    ctx->used = 0;
}

#ifndef ASCON_INTERLEAVED
static void ascon_absorb(ascon_state *s, const uint8_t *data, size_t blocks) {
    for (; blocks > 0; blocks--, data += ASCON_HASH256_BLOCK_BYTES) {
        s->x[0] ^= ascon_load(data, ASCON_HASH256_BLOCK_BYTES);
        ascon_p(s, 12);
    }
}
#endif

void ascon_hash256_update(ascon_hash256_ctx *ctx, const uint8_t *data, size_t length) {
    unsigned used = ctx->used;
    while (length > 0) {
        if (used == 0 && length >= ASCON_HASH256_BLOCK_BYTES) {
            size_t whole = length - length % ASCON_HASH256_BLOCK_BYTES;
            ascon_absorb(&ctx->state, data, whole / ASCON_HASH256_BLOCK_BYTES);
            data += whole;
            length -= whole;
            continue;
        }
        ctx->block[used++] = *data++;
        length--;
        if (used == ASCON_HASH256_BLOCK_BYTES) {
            ascon_absorb(&ctx->state, ctx->block, 1);
            used = 0;
        }
    }
    ctx->used = (uint8_t)used;
}

void ascon_hash256_final(ascon_hash256_ctx *ctx, uint8_t *digest) {
    ctx->state.x[0] ^= ascon_load(ctx->block, ctx->used) ^ ascon_pad(ctx->used);
    for (unsigned i = 0; i < 4; i++) {
        ascon_p(&ctx->state, 12);
        ascon_store(digest + 8 * i, ctx->state.x[0], 8);
    }
    crypto_wipe(ctx, sizeof *ctx);
}
