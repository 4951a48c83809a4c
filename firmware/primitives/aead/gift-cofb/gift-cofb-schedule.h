/* Round keys for fixsliced GIFT-128.

   Let K_r be word 3 of the key state, W_6 || W_7, in round r. Four rounds later it is T(K_r): its
   high half rotated right by 2 and its low half by 12, so T^8 = 1. Round r adds K_r to word 1 and
   K_(r + 2) to word 2, both of which are kept permuted by R^-(r + 1), and R^5 = 1. Twenty rounds
   later the permutation is the same again and K is T^5(K); ten rounds before, the first key's K is
   T^-2 of the second key's. As permuted words, T^5 and T^-2 are rotations of a few parts. */

/* R^-i for i = 1 to 4. R moves bit 4 b + j to bit b of byte 3 - j. */
static inline uint32_t permute(uint32_t x, unsigned i) {
    x = swap_bits(x, 0x0a0a0a0a, 3);
    switch (i) {
    case 1:
        x = swap_bits(x, 0x00550055, 9);
        x = swap_bits(x, 0x000000ff, 24);
        return swap_bits(x, 0x00cc00cc, 6);
    case 2:
        x = swap_bits(x, 0x11111111, 3);
        x = swap_bits(x, 0x000f000f, 12);
        return swap_bits(x, 0x000000ff, 24);
    case 3:
        x = swap_bits(x, 0x03030303, 6);
        x = swap_bits(x, 0x000000ff, 24);
        return swap_bits(x, 0x00550055, 9);
    default:
        x = swap_bits(x, 0x00cc00cc, 6);
        x = swap_bits(x, 0x000000ff, 24);
        return swap_bits(x, 0x000f000f, 12);
    }
}

/* The bits of x in mask, rotated right by n. */
static inline uint32_t turned(uint32_t x, uint32_t mask, unsigned n) {
    x &= mask;
    return x >> n | x << (32 - n);
}

/* T^5 of a word that R^-i has permuted, for i = 0 to 4. */
static inline uint32_t twenty_rounds_on(uint32_t x, unsigned i) {
    switch (i) {
    case 0:
        return turned(x, 0xfc000000, 10) | turned(x, 0x03ff0000, 26) | turned(x, 0x0000f000, 12) |
               turned(x, 0x00000fff, 28);
    case 1:
        return turned(x, 0x11111100, 7) | turned(x, 0x00000033, 8) | turned(x, 0x22222200, 9) |
               turned(x, 0x44440000, 15) | turned(x, 0x0000cccc, 16) | turned(x, 0x88880000, 17);
    case 2:
        return turned(x, 0xfc00fc00, 2) | turned(x, 0x03000300, 26) | turned(x, 0x00f800f8, 3) |
               turned(x, 0x00070007, 27);
    case 3:
        return turned(x, 0x55555555, 8) | turned(x, 0xaaaaaaaa, 12);
    default:
        return turned(x, 0x08080808, 3) | turned(x, 0x00003030, 14) | turned(x, 0x70700000, 15) |
               turned(x, 0x0000c0c0, 18) | turned(x, 0x80800000, 19) | turned(x, 0x07070707, 31);
    }
}

/* T^-2 of the same. */
static inline uint32_t eight_rounds_back(uint32_t x, unsigned i) {
    switch (i) {
    case 0:
        return turned(x, 0x0000ff00, 8) | turned(x, 0x000000ff, 24) | turned(x, 0xf0000000, 12) |
               turned(x, 0x0fff0000, 28);
    case 1:
        return turned(x, 0x88888888, 1) | turned(x, 0x44444444, 31) | turned(x, 0x11110000, 15) |
               turned(x, 0x00003333, 16) | turned(x, 0x22220000, 17);
    case 2:
        return turned(x, 0x00fc00fc, 2) | turned(x, 0x00030003, 26) | turned(x, 0xf000f000, 4) |
               turned(x, 0x0f000f00, 28);
    case 3:
        return turned(x, 0xaaaaaaaa, 8) | turned(x, 0x55555555, 16);
    default:
        return turned(x, 0x0c0c0c0c, 2) | turned(x, 0x03030303, 30) | turned(x, 0x80808080, 3) |
               turned(x, 0x70707070, 31);
    }
}

enum { ROUNDS = 40 };

/* The key of word 1 in round `round`, of the first 20; k becomes that of the next round. */
static inline void begin(uint32_t keys[ROUNDS][2], unsigned round, unsigned i, uint32_t k[4]) {
    uint32_t high = k[0] >> 16, low = k[0] & 0xffffu;
    keys[round][0] = i == 0 ? k[0] : permute(k[0], i);
    k[0] = k[1];
    k[1] = k[2];
    k[2] = k[3];
    k[3] = (high >> 2 | high << 14) << 16 | ((low >> 12 | low << 4) & 0xffffu);
}

/* The other keys of every fifth round from `round` on. */
static inline void complete(uint32_t keys[ROUNDS][2], unsigned round, unsigned i) {
#pragma GCC unroll 1
    for (unsigned r = round; r < 20; r += 5)
        keys[r + 20][0] = twenty_rounds_on(keys[r][0], i);
#pragma GCC unroll 1
    for (unsigned r = round; r < 30; r += 5)
        keys[r][1] = eight_rounds_back(keys[r + 10][0], i);
#pragma GCC unroll 1
    for (unsigned r = round; r < 10; r += 5)
        keys[r + 30][1] = keys[r][0]; /* T^8 = 1 */
}

void gift_cofb_init(gift_cofb_ctx *ctx, const uint8_t *key) {
    uint32_t k[4]; /* K of this round and the next three */
    for (size_t i = 0; i < 4; i++)
        k[i] = load32(key + 12 - 4 * i);
#pragma GCC unroll 1
    for (unsigned round = 0; round < 20; round += 5) {
        begin(ctx->round_keys, round, 1, k);
        begin(ctx->round_keys, round + 1, 2, k);
        begin(ctx->round_keys, round + 2, 3, k);
        begin(ctx->round_keys, round + 3, 4, k);
        begin(ctx->round_keys, round + 4, 0, k);
    }
    complete(ctx->round_keys, 0, 1);
    complete(ctx->round_keys, 1, 2);
    complete(ctx->round_keys, 2, 3);
    complete(ctx->round_keys, 3, 4);
    complete(ctx->round_keys, 4, 0);
    crypto_wipe(k, sizeof k);
}
