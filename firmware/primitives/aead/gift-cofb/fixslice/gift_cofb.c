/* GIFT-128 with word 3 left in place. PermBits rotates word i left by 8 (i + 1) bits after a
   permutation R, common to all words, with R^5 = 1. Here, after r rounds, the words hold R^-r of
   their true values: word 3, whose rotation is by 32 bits, never moves, and the others need only
   rotations: in turn within nibbles, within halves (followed by a swap of adjacent bits), within
   bytes and of the whole word. */
#include "aead/gift-cofb/gift-cofb-words.h"

#include "aead/gift-cofb/gift-cofb-schedule.h"

/* Rotates fields of `width` bits right by n; low masks the n lowest bits of each field. */
#define TURN_FIELDS(x, width, n, low) ((x) & (low)) << ((width) - (n)) | ((x) & ~(low)) >> (n)
#define TURN(x, n) ((x) << (32 - (n)) | (x) >> (n))

/* SubCells. Leaves the new word 0, inverted, in d and the new word 3 in a. */
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

/* The specification's round constants for word 3, permuted as their rounds require. */
static const uint32_t constants[ROUNDS] = {
    0x10000008, 0x80018000, 0x54000002, 0x01010181, 0x8000001f, 0x10888880, 0x6001e000, 0x51500002,
    0x03030180, 0x8000002f, 0x10088880, 0x60016000, 0x41500002, 0x03030080, 0x80000027, 0x10008880,
    0x4001e000, 0x11500002, 0x03020180, 0x8000002b, 0x10080880, 0x60014000, 0x01400002, 0x02020080,
    0x80000021, 0x10000080, 0x0001c000, 0x51000002, 0x03010180, 0x8000002e, 0x10088800, 0x60012000,
    0x40500002, 0x01030080, 0x80000006, 0x10008808, 0xc001a000, 0x14500002, 0x01020181, 0x8000001a,
};

static void gift128_encrypt(const gift_cofb_ctx *ctx, uint32_t block[4]) {
    uint32_t a = block[0], b = block[1], c = block[2], d = block[3];
    const uint32_t *key = ctx->round_keys[0], *constant = constants;
    for (unsigned i = 0; i < ROUNDS; i += 10) {
        FIVE_ROUNDS(a, b, c, d);
        FIVE_ROUNDS(d, b, c, a);
    }
    block[0] = a;
    block[1] = b;
    block[2] = c;
    block[3] = d;
}

#include "aead/gift-cofb/gift-cofb-body.h"
