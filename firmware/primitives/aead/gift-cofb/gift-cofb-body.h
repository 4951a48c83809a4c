/* COFB in the notation of the specification. An implementation defines gift_cofb_ctx
   and, before it includes this,
     static void gift128_encrypt(const gift_cofb_ctx *ctx, uint8_t *block);   in place */
#include "aead.h"

enum { COFB_BLOCK_BYTES = 16, COFB_HALF_BYTES = 8 };

/* L = 2L, in GF(2^64) modulo x^64 + x^4 + x^3 + x + 1, first byte highest. */
static void double_l(uint8_t *l) {
    unsigned carry = 0;
    for (size_t i = COFB_HALF_BYTES; i-- > 0;) {
        carry |= (unsigned)l[i] << 1;
        l[i] = (uint8_t)carry;
        carry >>= 8;
    }
    l[COFB_HALF_BYTES - 1] ^= (uint8_t)(crypto_mask(carry) & 0x1bu);
}

/* L = 3L */
static void triple_l(uint8_t *l) {
    uint8_t once[COFB_HALF_BYTES];
    for (size_t i = 0; i < COFB_HALF_BYTES; i++)
        once[i] = l[i];
    double_l(l);
    crypto_xor(l, l, once, COFB_HALF_BYTES);
    crypto_wipe(once, sizeof once);
}

/* Y = E(X XOR G(Y) XOR (L || 0)), where x is padded here: 10* unless it is a whole block. */
static void absorb(const gift_cofb_ctx *ctx, uint8_t *y, const uint8_t *x, size_t length,
                   const uint8_t *l) {
    uint8_t g[COFB_BLOCK_BYTES]; /* G(Y1 || Y2) = Y2 || Y1 <<< 1 */
    for (size_t i = 0; i < COFB_HALF_BYTES; i++) {
        g[i] = (uint8_t)(y[COFB_HALF_BYTES + i] ^ l[i]);
        g[COFB_HALF_BYTES + i] = (uint8_t)(y[i] << 1 | y[(i + 1) % COFB_HALF_BYTES] >> 7);
    }
    crypto_xor(g, g, x, length);
    if (length < COFB_BLOCK_BYTES)
        g[length] ^= 0x80;
    gift128_encrypt(ctx, g);
    for (size_t i = 0; i < COFB_BLOCK_BYTES; i++)
        y[i] = g[i];
    crypto_wipe(g, sizeof g);
}

/* Both directions; y becomes the tag. */
static void process(const gift_cofb_ctx *ctx, const aead_message *m, int decrypting, uint8_t *y) {
    uint8_t l[COFB_HALF_BYTES], x[COFB_BLOCK_BYTES];
    size_t done = 0;
    for (size_t i = 0; i < COFB_BLOCK_BYTES; i++)
        y[i] = m->nonce[i];
    gift128_encrypt(ctx, y);
    for (size_t i = 0; i < COFB_HALF_BYTES; i++)
        l[i] = y[i];

    for (; m->ad_length - done > COFB_BLOCK_BYTES; done += COFB_BLOCK_BYTES) {
        double_l(l);
        absorb(ctx, y, m->ad + done, COFB_BLOCK_BYTES, l);
    }
    size_t left = m->ad_length - done;
    triple_l(l);
    if (left < COFB_BLOCK_BYTES)
        triple_l(l);
    if (m->length == 0) {
        triple_l(l);
        triple_l(l);
    }
    absorb(ctx, y, left > 0 ? m->ad + done : x, left, l);

    for (done = 0; done < m->length; done += left) {
        left = m->length - done;
        if (left > COFB_BLOCK_BYTES) {
            left = COFB_BLOCK_BYTES;
            double_l(l);
        } else {
            triple_l(l);
            if (left < COFB_BLOCK_BYTES)
                triple_l(l);
        }
        for (size_t i = 0; i < left; i++) {
            uint8_t in = m->in[done + i], out = (uint8_t)(in ^ y[i]);
            m->out[done + i] = out;
            x[i] = decrypting ? out : in;
        }
        absorb(ctx, y, x, left, l);
    }
    crypto_wipe(l, sizeof l);
    crypto_wipe(x, sizeof x);
}

static int lengths_allowed(const aead_message *m) {
    return m->nonce_length == GIFT_COFB_NONCE_BYTES && m->tag_length == GIFT_COFB_TAG_BYTES;
}

crypto_status gift_cofb_encrypt(const gift_cofb_ctx *ctx, const aead_message *m) {
    if (!lengths_allowed(m))
        return CRYPTO_BAD_LENGTH;
    process(ctx, m, 0, m->tag);
    return CRYPTO_OK;
}

crypto_status gift_cofb_decrypt(const gift_cofb_ctx *ctx, const aead_message *m) {
    uint8_t tag[GIFT_COFB_TAG_BYTES];
    if (!lengths_allowed(m))
        return CRYPTO_BAD_LENGTH;
    process(ctx, m, 1, tag);
    return aead_check_tag(m, tag);
}
