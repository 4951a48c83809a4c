/* Round keys for fixsliced GIFT-128: R, the permutation common to all words, and its powers by
   round. */
/* R: bit 4 b + j moves to bit b of byte -j modulo 4. */
static uint32_t permute(uint32_t x) {
    x = swap_bits(x, 0x0a0a0a0a, 3);
    x = swap_bits(x, 0x00cc00cc, 6);
    x = swap_bits(x, 0x0000f0f0, 12);
    return swap_bits(x, 0x000000ff, 24);
}

static uint32_t permute_back(uint32_t x) {
    x = swap_bits(x, 0x000000ff, 24);
    x = swap_bits(x, 0x0000f0f0, 12);
    x = swap_bits(x, 0x00cc00cc, 6);
    return swap_bits(x, 0x0a0a0a0a, 3);
}

/* R^-round */
static uint32_t place(uint32_t x, unsigned round) {
    switch (round % 5) {
    case 0:
        return x;
    case 1:
        return permute_back(x);
    case 2:
        return permute_back(permute_back(x));
    case 3:
        return permute(permute(x));
    default:
        return permute(x);
    }
}

enum { ROUNDS = 40 };

void gift_cofb_init(gift_cofb_ctx *ctx, const uint8_t *key) {
    uint32_t w[4]; /* W_2i || W_2i+1 */
    for (size_t i = 0; i < 4; i++)
        w[i] = load32(key + 4 * i);
    for (unsigned round = 0; round < ROUNDS; round++) {
        ctx->round_keys[round][0] = place(w[3], round + 1);
        ctx->round_keys[round][1] = place(w[1], round + 1);
        /* Key state: W0 || W1 = W6 >>> 2 || W7 >>> 12, the others move up. */
        uint32_t high = w[3] >> 16, low = w[3] & 0xffffu;
        w[3] = w[2];
        w[2] = w[1];
        w[1] = w[0];
        w[0] = (high >> 2 | high << 14) << 16 | ((low >> 12 | low << 4) & 0xffffu);
    }
    crypto_wipe(w, sizeof w);
}
