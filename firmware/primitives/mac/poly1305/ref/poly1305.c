/* Limbs of 13 bits, so that products and their sums fit 32 bits with a 16-bit multiplier. */
#include "poly1305.h"

enum { LIMBS = POLY1305_LIMBS, BITS = 13, MASK = (1 << BITS) - 1 };

/* Splits 17 little-endian bytes, the last of them below 4, into limbs of 130 bits in all. */
static void to_limbs(uint16_t limbs[LIMBS], const uint8_t *bytes, unsigned top) {
    uint32_t buffer = 0;
    unsigned bits = 0, at = 0;
    for (unsigned i = 0; i < LIMBS; i++) {
        for (; bits < BITS; bits += 8, at++)
            buffer |= (uint32_t)(at < 16 ? bytes[at] : at == 16 ? top : 0) << bits;
        limbs[i] = (uint16_t)(buffer & MASK);
        buffer >>= BITS;
        bits -= BITS;
    }
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

crypto_status poly1305_init(poly1305_ctx *ctx, const uint8_t *key, size_t key_length) {
    if (key_length != POLY1305_KEY_BYTES)
        return CRYPTO_BAD_LENGTH;
    uint8_t r[16];
    for (unsigned i = 0; i < 16; i++) {
        /* RFC 8439, section 2.5.1: bytes 3, 7, 11, 15 below 16 and bytes 4, 8, 12 divisible by 4.
         */
        uint8_t clamp = i % 4 == 3 ? 0x0f : i % 4 == 0 && i > 0 ? 0xfc : 0xff;
        r[i] = key[i] & clamp;
        ctx->s[i] = key[16 + i];
    }
    to_limbs(ctx->r, r, 0);
    for (unsigned i = 0; i < LIMBS; i++)
        ctx->h[i] = 0;
    ctx->used = 0;
    crypto_wipe(r, sizeof r);
    return CRYPTO_OK;
}

void poly1305_update(poly1305_ctx *ctx, const uint8_t *data, size_t length) {
    unsigned used = ctx->used;
    while (length > 0) {
        if (used == 0 && length >= 16) {
            add_multiply(ctx, data, 1);
            data += 16;
            length -= 16;
            continue;
        }
        ctx->block[used++] = *data++;
        length--;
        if (used == 16) {
            add_multiply(ctx, ctx->block, 1);
            used = 0;
        }
    }
    ctx->used = (uint8_t)used;
}

void poly1305_final(poly1305_ctx *ctx, uint8_t *tag) {
    if (ctx->used > 0) {
        ctx->block[ctx->used] = 1;
        for (unsigned i = ctx->used + 1u; i < 16; i++)
            ctx->block[i] = 0;
        add_multiply(ctx, ctx->block, 0);
    }

    /* Carry through all limbs, twice, as the carry out of the top adds 5 at the bottom. */
    uint16_t *h = ctx->h, carry = 0;
    for (unsigned pass = 0; pass < 2; pass++) {
        for (unsigned i = 0; i < LIMBS; i++) {
            uint16_t limb = (uint16_t)(h[i] + carry);
            h[i] = limb & MASK;
            carry = limb >> BITS;
        }
        carry *= 5;
    }

    /* h - p = h + 5 - 2^130, which is taken if the sum reaches 2^130. */
    uint16_t reduced[LIMBS];
    carry = 5;
    for (unsigned i = 0; i < LIMBS; i++) {
        uint16_t limb = (uint16_t)(h[i] + carry);
        reduced[i] = limb & MASK;
        carry = limb >> BITS;
    }
    uint16_t take = (uint16_t)crypto_mask(carry);

    uint32_t buffer = 0;
    unsigned bits = 0, at = 0, sum = 0;
    for (unsigned i = 0; i < LIMBS; i++) {
        uint16_t limb = (uint16_t)((h[i] & ~take) | (reduced[i] & take));
        buffer |= (uint32_t)limb << bits;
        for (bits += BITS; bits >= 8 && at < 16; bits -= 8, at++) {
            sum += (unsigned)(buffer & 0xff) + ctx->s[at];
            tag[at] = (uint8_t)sum;
            sum >>= 8;
            buffer >>= 8;
        }
    }
    crypto_wipe(reduced, sizeof reduced);
    crypto_wipe(ctx, sizeof *ctx);
}
