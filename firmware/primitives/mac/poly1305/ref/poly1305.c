/* Limbs of 13 bits, so that products and their sums fit 32 bits with a 16-bit multiplier. */
#include "poly1305-body.h"

static void set_multiplier(poly1305_ctx *ctx, const uint8_t r[16]) {
    to_limbs(ctx->r, r, 0);
}

/* h = (h + message) r modulo 2^130 - 5, partly reduced. Bounds: limbs of h are at most 2^13, those
   of the sum below 2^14, of 5 r below 5 * 2^13. Five products therefore stay below 5 * 5 * 2^27,
   which with a carry below 2^21 is below 2^32. */
static void add_multiply(poly1305_ctx *ctx, const uint8_t *block, unsigned top) {
    uint16_t message[LIMBS], sum[LIMBS];
    to_limbs(message, block, top);
    for (unsigned i = 0; i < LIMBS; i++)
        sum[i] = ctx->h[i] + message[i];

    uint32_t carry = 0;
    for (unsigned i = 0; i < LIMBS; i++) {
        uint32_t limb = carry;
        carry = 0;
        for (unsigned j = 0; j < LIMBS; j++) {
            /* 2^130 is 5: products beyond the top are added at the bottom five times. */
            uint16_t r = j <= i ? ctx->r[i - j] : (uint16_t)(5 * ctx->r[i + LIMBS - j]);
            limb += (uint32_t)sum[j] * r;
            if (j == LIMBS / 2 - 1 || j == LIMBS - 1) {
                carry += limb >> BITS;
                limb &= MASK;
            }
        }
        ctx->h[i] = (uint16_t)limb;
    }
    /* The carry out of the top is below 2^21; five times it is added to limbs 0 and 1. */
    uint32_t low = ctx->h[0] + 5 * carry;
    ctx->h[0] = (uint16_t)(low & MASK);
    low = ctx->h[1] + (low >> BITS);
    ctx->h[1] = (uint16_t)(low & MASK);
    ctx->h[2] += (uint16_t)(low >> BITS);
    crypto_wipe(message, sizeof message);
    crypto_wipe(sum, sizeof sum);
}
