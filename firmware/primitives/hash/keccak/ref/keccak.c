#include "keccak.h"

#include "permutation/keccak-f1600-ref.h"

/* Keccak-f[1600] on a state of bytes. */
static void keccak_f1600(uint8_t state[200]) {
    uint64_t a[25], c[5];
    for (unsigned i = 0; i < 25; i++) {
        a[i] = 0;
        for (unsigned j = 8; j-- > 0;)
            a[i] = a[i] << 8 | state[8 * i + j];
    }
#include "permutation/keccak-rounds.inc"
    for (unsigned i = 0; i < 25; i++) {
        for (unsigned j = 0; j < 8; j++) {
            state[8 * i + j] = (uint8_t)a[i];
            a[i] >>= 8;
        }
    }
    crypto_wipe(c, sizeof c);
}

void keccak_init(keccak_ctx *ctx) {
    for (unsigned i = 0; i < sizeof ctx->state; i++)
        ctx->state[i] = 0;
    ctx->fill = 0;
}

void keccak_update(keccak_ctx *ctx, const uint8_t *data, size_t length) {
    unsigned fill = ctx->fill;
    for (; length > 0; length--) {
        ctx->state[fill++] ^= *data++;
        if (fill == KECCAK_BLOCK_BYTES) {
            keccak_f1600(ctx->state);
            fill = 0;
        }
    }
    ctx->fill = fill;
}

void keccak_final(keccak_ctx *ctx, uint8_t *digest) {
    ctx->state[ctx->fill] ^= KECCAK_SUFFIX;
    ctx->state[KECCAK_BLOCK_BYTES - 1] ^= 0x80;
    keccak_f1600(ctx->state);
    for (unsigned i = 0; i < KECCAK_DIGEST_BYTES; i++)
        digest[i] = ctx->state[i];
    crypto_wipe(ctx, sizeof *ctx);
}
