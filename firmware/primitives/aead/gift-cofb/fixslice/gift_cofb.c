/* GIFT-128 with word 3 left where it is. PermBits turns word i by 8 (i + 1) bits to the left after
   a permutation R, the same for all, with R^5 = 1. Here the words after r rounds hold R^-r of what
   they should: word 3, turned by 32 bits, never moves, and the others need rotations only: within
   nibbles, halves (then neighbours change places), bytes and the whole word in turn. */
#include "gift_cofb.h"

enum { ROUNDS = 40 };

static uint32_t load32(const uint8_t *in) {
    return (uint32_t)in[0] << 24 | (uint32_t)in[1] << 16 | (uint32_t)in[2] << 8 | in[3];
}

static void store32(uint8_t *out, uint32_t x) {
    out[0] = (uint8_t)(x >> 24);
    out[1] = (uint8_t)(x >> 16);
    out[2] = (uint8_t)(x >> 8);
    out[3] = (uint8_t)x;
}

/* Swaps the bits of x in mask with those n places above. */
static uint32_t swap_bits(uint32_t x, uint32_t mask, unsigned n) {
    uint32_t difference = (x ^ x >> n) & mask;
    return x ^ difference ^ difference << n;
}

/* R: bit 4 b + j goes to bit b of byte -j modulo 4. */
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

/* Fields of `width` bits turned to the right by n; low is the n lowest bits of each. */
#define TURN_FIELDS(x, width, n, low) ((x) & (low)) << ((width) - (n)) | ((x) & ~(low)) >> (n)
#define TURN(x, n) ((x) << (32 - (n)) | (x) >> (n))

/* SubCells. What it leaves in d is the new word 0, inverted, and in a the new word 3. */
#define SUB_CELLS(a, b, c, d)                                                                      \
    b ^= a & c;                                                                                    \
    a ^= b & d;                                                                                    \
    c ^= a | b;                                                                                    \
    d = ~(d ^ c);                                                                                  \
    b ^= ~d;                                                                                       \
    c ^= a & b

/* AddRoundKey; a is word 3. */
#define ADD_ROUND_KEY(a, b, c)                                                                     \
    b ^= key[0];                                                                                   \
    c ^= key[1];                                                                                   \
    a ^= *constant++;                                                                              \
    key += 2

#define FIVE_ROUNDS(a, b, c, d)                                                                    \
    SUB_CELLS(a, b, c, d);                                                                         \
    d = TURN_FIELDS(d, 4, 1, 0x11111111u);                                                         \
    b = TURN_FIELDS(b, 4, 2, 0x33333333u);                                                         \
    c = TURN_FIELDS(c, 4, 3, 0x77777777u);                                                         \
    ADD_ROUND_KEY(a, b, c);                                                                        \
    SUB_CELLS(d, b, c, a);                                                                         \
    a = TURN_FIELDS(a, 16, 4, 0x000f000fu);                                                        \
    b = TURN_FIELDS(b, 16, 8, 0x00ff00ffu);                                                        \
    c = TURN_FIELDS(c, 16, 12, 0x0fff0fffu);                                                       \
    ADD_ROUND_KEY(d, b, c);                                                                        \
    SUB_CELLS(a, b, c, d);                                                                         \
    d = swap_bits(d, 0x00005555, 1);                                                               \
    d = TURN(d, 16);                                                                               \
    b = TURN_FIELDS(b, 2, 1, 0x55555555u);                                                         \
    c = swap_bits(c, 0x55550000, 1);                                                               \
    c = TURN(c, 16);                                                                               \
    ADD_ROUND_KEY(a, b, c);                                                                        \
    SUB_CELLS(d, b, c, a);                                                                         \
    a = TURN_FIELDS(a, 8, 6, 0x3f3f3f3fu);                                                         \
    b = TURN_FIELDS(b, 8, 4, 0x0f0f0f0fu);                                                         \
    c = TURN_FIELDS(c, 8, 2, 0x03030303u);                                                         \
    ADD_ROUND_KEY(d, b, c);                                                                        \
    SUB_CELLS(a, b, c, d);                                                                         \
    d = TURN(d, 24);                                                                               \
    b = TURN(b, 16);                                                                               \
    c = TURN(c, 8);                                                                                \
    ADD_ROUND_KEY(a, b, c)

/* The round constants of the specification, which are added to word 3, in the places of their
   rounds. */
static const uint32_t constants[ROUNDS] = {
    0x10000008, 0x80018000, 0x54000002, 0x01010181, 0x8000001f, 0x10888880, 0x6001e000, 0x51500002,
    0x03030180, 0x8000002f, 0x10088880, 0x60016000, 0x41500002, 0x03030080, 0x80000027, 0x10008880,
    0x4001e000, 0x11500002, 0x03020180, 0x8000002b, 0x10080880, 0x60014000, 0x01400002, 0x02020080,
    0x80000021, 0x10000080, 0x0001c000, 0x51000002, 0x03010180, 0x8000002e, 0x10088800, 0x60012000,
    0x40500002, 0x01030080, 0x80000006, 0x10008808, 0xc001a000, 0x14500002, 0x01020181, 0x8000001a,
};

static void gift128_encrypt(const gift_cofb_ctx *ctx, uint8_t *block) {
    uint32_t a = load32(block), b = load32(block + 4);
    uint32_t c = load32(block + 8), d = load32(block + 12);
    const uint32_t *key = ctx->round_keys[0], *constant = constants;
    for (unsigned i = 0; i < ROUNDS; i += 10) {
        FIVE_ROUNDS(a, b, c, d);
        FIVE_ROUNDS(d, b, c, a);
    }
    store32(block, a);
    store32(block + 4, b);
    store32(block + 8, c);
    store32(block + 12, d);
}

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

#include "aead/gift-cofb/gift-cofb-body.h"
