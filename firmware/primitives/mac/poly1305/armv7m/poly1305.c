#include "poly1305-body.h"

/* h = (h + block + top 2^117) r modulo 2^130 - 5; in multiply.S. */
void poly1305_multiply(uint32_t h[LIMBS], const uint32_t r[2 * LIMBS - 1], const uint8_t *block,
                       uint32_t top);

static void set_multiplier(poly1305_ctx *ctx, const uint8_t r[16]) {
    poly1305_limb *limbs = ctx->r + LIMBS - 1;
    to_limbs(limbs, r, 0);
    for (unsigned i = 1; i < LIMBS; i++)
        ctx->r[i - 1] = 5 * limbs[i];
}

static void add_multiply(poly1305_ctx *ctx, const uint8_t *block, unsigned top) {
    poly1305_multiply(ctx->h, ctx->r, block, (uint32_t)top << (128 - 9 * BITS));
}
