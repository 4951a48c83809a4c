/* GIFT-128 in its bitsliced form, as the GIFT-COFB specification gives it. */
#include "gift_cofb.h"

enum { ROUNDS = 40 };

static uint32_t load32(const uint8_t *in) {
    return (uint32_t)in[0] << 24 | (uint32_t)in[1] << 16 | (uint32_t)in[2] << 8 | in[3];
}

/* Swaps the bits of x in mask with those n places above. */
static uint32_t swap_bits(uint32_t x, uint32_t mask, unsigned n) {
    uint32_t difference = (x ^ x >> n) & mask;
    return x ^ difference ^ difference << n;
}

/* PermBits for word i: bit 4b + j goes to bit b of byte i - j modulo 4. */
static uint32_t permute_bits(uint32_t s, unsigned i) {
    s = swap_bits(s, 0x0a0a0a0a, 3);
    s = swap_bits(s, 0x00cc00cc, 6);
    s = swap_bits(s, 0x0000f0f0, 12);
    s = swap_bits(s, 0x000000ff, 24);
    return i == 3 ? s : s << 8 * (i + 1) | s >> (24 - 8 * i);
}

static void gift128_encrypt(const gift_cofb_ctx *ctx, uint8_t *block) {
    uint32_t s[4], w[4];
    uint8_t c = 0;
    for (size_t i = 0; i < 4; i++) {
        s[i] = load32(block + 4 * i);
        w[i] = load32(ctx->key + 4 * i); /* W_2i || W_2i+1 */
    }

    for (unsigned round = 0; round < ROUNDS; round++) {
        /* SubCells */
        s[1] ^= s[0] & s[2];
        s[0] ^= s[1] & s[3];
        s[2] ^= s[0] | s[1];
        s[3] ^= s[2];
        s[1] ^= s[3];
        s[3] = ~s[3];
        s[2] ^= s[0] & s[1];
        uint32_t swapped = s[0];
        s[0] = s[3];
        s[3] = swapped;

        for (unsigned i = 0; i < 4; i++)
            s[i] = permute_bits(s[i], i);

        /* AddRoundKey, with the round constant from its six-bit register */
        c = (uint8_t)((c << 1 | ((c >> 5 ^ c >> 4 ^ 1) & 1)) & 0x3f);
        s[2] ^= w[1];
        s[1] ^= w[3];
        s[3] ^= 0x80000000u ^ c;

        /* Key state: W0 || W1 = W6 >>> 2 || W7 >>> 12, the others move up. */
        uint32_t high = w[3] >> 16, low = w[3] & 0xffffu;
        high = (high >> 2 | high << 14) & 0xffffu;
        low = (low >> 12 | low << 4) & 0xffffu;
        w[3] = w[2];
        w[2] = w[1];
        w[1] = w[0];
        w[0] = high << 16 | low;
    }

    for (size_t i = 0; i < 16; i++)
        block[i] = (uint8_t)(s[i / 4] >> (24 - 8 * (i % 4)));
    crypto_wipe(s, sizeof s);
    crypto_wipe(w, sizeof w);
}

void gift_cofb_init(gift_cofb_ctx *ctx, const uint8_t *key) {
    for (size_t i = 0; i < GIFT_COFB_KEY_BYTES; i++)
        ctx->key[i] = key[i];
}

#include "aead/gift-cofb/gift-cofb-body.h"
