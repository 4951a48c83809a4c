/* pLayer moves bit j of nibble i to bit i of the 16-bit word j. The two nibbles of byte b therefore
   end in bits 2 b and 2 b + 1 of the four words: for bytes 0 to 3 in the words' low bytes, which
   are bytes 0, 2, 4 and 6 of the result; for bytes 4 to 7 in their high bytes, 1, 3, 5 and 7. With
   these two sets of bytes as the halves of the state, a table that spreads a byte after sBoxLayer
   over four bytes gives each half of the result with four shifts. An implementation whose
   present_encrypt is in assembly defines PRESENT_ENCRYPT_IN_ASSEMBLY. */
#include "present-schedule.h"
#include "present.h"

#define LIST4(f, b) f(b), f((b) + 1), f((b) + 2), f((b) + 3)
#define LIST16(f, b) LIST4(f, b), LIST4(f, (b) + 4), LIST4(f, (b) + 8), LIST4(f, (b) + 12)
#define LIST64(f, b) LIST16(f, b), LIST16(f, (b) + 16), LIST16(f, (b) + 32), LIST16(f, (b) + 48)
#define LIST256(f) LIST64(f, 0), LIST64(f, 64), LIST64(f, 128), LIST64(f, 192)

/* The S-box of a nibble, stored as one number. */
#define S(n) (0x21748fe3da09b65c >> 4 * (n) & 15)
#define INVERSE_S(n) (0xa970364bd21c8fe5 >> 4 * (n) & 15)

/* Moves bit j to bit 8 j. */
#define SPREAD(n) ((n) & 1 | (n) >> 1 << 8 & 0x100 | (n) >> 2 << 16 & 0x10000 | (n) >> 3 << 24)
#define ENTRY(b) (uint32_t)(SPREAD(S((b) & 15)) | SPREAD(S((b) >> 4)) << 1)
const uint32_t present_table[256] = {LIST256(ENTRY)};

/* The inverse: bits 2 j and 2 j + 1 are bits j of the low and of the high nibble. */
#define GATHER(b) ((b) & 1 | (b) >> 1 & 2 | (b) >> 2 & 4 | (b) >> 3 & 8)
#define INVERSE_ENTRY(b) (uint8_t)(INVERSE_S(GATHER(b)) | INVERSE_S(GATHER((b) >> 1)) << 4)
static const uint8_t inverse_table[256] = {LIST256(INVERSE_ENTRY)};

static present_state load(const uint8_t *in) {
    return (present_state){
        .even = in[7] | (uint32_t)in[5] << 8 | (uint32_t)in[3] << 16 | (uint32_t)in[1] << 24,
        .odd = in[6] | (uint32_t)in[4] << 8 | (uint32_t)in[2] << 16 | (uint32_t)in[0] << 24};
}

static void store(uint8_t *out, present_state s) {
    for (unsigned i = 4; i-- > 0; s.even >>= 8, s.odd >>= 8) {
        out[2 * i + 1] = (uint8_t)s.even;
        out[2 * i] = (uint8_t)s.odd;
    }
}

void present_init(present_ctx *ctx, const uint8_t *key) {
    uint16_t words[PRESENT_ROUNDS + 1][4];
    present_expand(words, key);
    for (unsigned round = 0; round <= PRESENT_ROUNDS; round++) {
        present_state *k = &ctx->round_keys[round];
        k->even = k->odd = 0;
        for (unsigned j = 4; j-- > 0;) {
            k->even = k->even << 8 | (words[round][j] & 0xff);
            k->odd = k->odd << 8 | words[round][j] >> 8;
        }
    }
    crypto_wipe(words, sizeof words);
}

static present_state add(present_state s, present_state key) {
    return (present_state){.even = s.even ^ key.even, .odd = s.odd ^ key.odd};
}

/* Gathers the byte whose bits are at 2 b and 2 b + 1 in each byte of x. The product holds them side
   by side from bit 18 on. */
static uint32_t inverse_byte(uint32_t x, unsigned b) {
    return inverse_table[(x >> 2 * b & 0x03030303) * 0x41041 >> 18 & 0xff];
}

#ifndef PRESENT_ENCRYPT_IN_ASSEMBLY
#define BYTE(x, i) ((x) >> 8 * (i) & 0xff)

/* sBoxLayer and pLayer of four bytes: i and i + 1 of both halves. */
static uint32_t half(present_state s, unsigned i) {
    return present_table[BYTE(s.even, i)] | present_table[BYTE(s.odd, i)] << 2 |
           present_table[BYTE(s.even, i + 1)] << 4 | present_table[BYTE(s.odd, i + 1)] << 6;
}

void present_encrypt(const present_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) {
    for (; blocks > 0; blocks--, in += PRESENT_BLOCK_BYTES, out += PRESENT_BLOCK_BYTES) {
        present_state s = add(load(in), ctx->round_keys[0]);
        for (unsigned round = 1; round <= PRESENT_ROUNDS; round++)
            s = add((present_state){half(s, 0), half(s, 2)}, ctx->round_keys[round]);
        store(out, s);
    }
}
#endif

void present_decrypt(const present_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) {
    for (; blocks > 0; blocks--, in += PRESENT_BLOCK_BYTES, out += PRESENT_BLOCK_BYTES) {
        present_state s = load(in);
        for (unsigned round = PRESENT_ROUNDS; round > 0; round--) {
            s = add(s, ctx->round_keys[round]);
            uint32_t x = s.even, y = s.odd;
            s.even = inverse_byte(x, 0) | inverse_byte(x, 2) << 8 | inverse_byte(y, 0) << 16 |
                     inverse_byte(y, 2) << 24;
            s.odd = inverse_byte(x, 1) | inverse_byte(x, 3) << 8 | inverse_byte(y, 1) << 16 |
                    inverse_byte(y, 3) << 24;
        }
        store(out, add(s, ctx->round_keys[0]));
    }
}
