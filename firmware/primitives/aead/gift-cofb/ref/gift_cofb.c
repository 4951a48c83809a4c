/* GIFT-128 in its bitsliced form, as in the GIFT-COFB specification. */
#include "aead/gift-cofb/gift-cofb-words.h"

enum { ROUNDS = 40 };

/* PermBits for word i: bit 4b + j moves to bit b of byte i - j modulo 4. */
static uint32_t permute_bits(uint32_t s, unsigned i) {
    s = swap_bits(s, 0x0a0a0a0a, 3);
    s = swap_bits(s, 0x00cc00cc, 6);
    s = swap_bits(s, 0x0000f0f0, 12);
    s = swap_bits(s, 0x000000ff, 24);
    return i == 3 ? s : s << 8 * (i + 1) | s >> (24 - 8 * i);
}

static void gift128_encrypt(const gift_cofb_ctx *ctx, uint32_t s[4]) {
    uint32_t w[4]; /* W_2i || W_2i+1 */
    uint8_t c = 0;
    load_block(w, ctx->key);

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

    crypto_wipe(w, sizeof w);
}

void gift_cofb_init(gift_cofb_ctx *ctx, const uint8_t *key) {
    for (size_t i = 0; i < GIFT_COFB_KEY_BYTES; i++)
        ctx->key[i] = key[i];
}

#include "aead/gift-cofb/gift-cofb-body.h"
