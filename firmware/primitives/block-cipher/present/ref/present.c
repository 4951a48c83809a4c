#include "present.h"
#include "present-schedule.h"

static const uint8_t inverse_sbox[16] = {0x5, 0xe, 0xf, 0x8, 0xc, 0x1, 0x2, 0xd,
                                         0xb, 0x4, 0x6, 0x3, 0x0, 0x7, 0x9, 0xa};
/* The S-box with bit j of its result at bit 4 j. */
static const uint16_t spread_sbox[16] = {0x1100, 0x0101, 0x0110, 0x1011, 0x1001, 0x0000,
                                         0x1010, 0x1101, 0x0011, 0x1110, 0x1111, 0x1000,
                                         0x0100, 0x0111, 0x0001, 0x0010};

/* Converts words to big-endian bytes, least significant word first. */
static void store(uint8_t *out, const uint16_t *words, unsigned count) {
    for (unsigned i = count; i-- > 0; out += 2) {
        out[0] = (uint8_t)(words[i] >> 8);
        out[1] = (uint8_t)words[i];
    }
}

void present_init(present_ctx *ctx, const uint8_t *key) {
    present_expand(ctx->round_keys, key);
}

static void add(uint16_t state[4], const uint16_t round_key[4]) {
    for (unsigned i = 0; i < 4; i++)
        state[i] ^= round_key[i];
}

/* Moves nibble j of word k to nibble k of word j. */
static void transpose(uint16_t words[4]) {
    uint16_t out[4] = {0, 0, 0, 0};
    for (unsigned k = 4; k-- > 0;) {
        unsigned word = words[k];
        for (unsigned j = 0; j < 4; j++, word >>= 4)
            out[j] = (uint16_t)((unsigned)out[j] << 4 | (word & 15));
    }
    for (unsigned j = 0; j < 4; j++)
        words[j] = out[j];
}

/* sBoxLayer and pLayer: bit j of nibble i moves to bit 16 j + i, which is bit i of word j. The four
   nibbles of a word give four adjacent bits of each word, so these are gathered first. */
static void substitute_permute(uint16_t state[4]) {
    for (unsigned k = 0; k < 4; k++) {
        unsigned word = state[k], gathered = 0;
        for (unsigned i = 0; i < 4; i++, word <<= 4)
            gathered = gathered << 1 | spread_sbox[word >> 12 & 15];
        state[k] = (uint16_t)gathered;
    }
    transpose(state);
}

static void inverse_substitute_permute(uint16_t state[4]) {
    transpose(state);
    for (unsigned k = 0; k < 4; k++) {
        unsigned gathered = state[k], word = 0;
        for (unsigned i = 0; i < 4; i++, gathered <<= 1) {
            unsigned bits = gathered >> 3 & 0x1111;
            word = word << 4 | inverse_sbox[(bits | bits >> 3 | bits >> 6 | bits >> 9) & 15];
        }
        state[k] = (uint16_t)word;
    }
}

void present_encrypt(const present_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) {
    uint16_t state[4];
    for (; blocks > 0; blocks--, in += PRESENT_BLOCK_BYTES, out += PRESENT_BLOCK_BYTES) {
        present_load(state, in, 4);
        for (unsigned round = 0; round < PRESENT_ROUNDS; round++) {
            add(state, ctx->round_keys[round]);
            substitute_permute(state);
        }
        add(state, ctx->round_keys[PRESENT_ROUNDS]);
        store(out, state, 4);
    }
    crypto_wipe(state, sizeof state);
}

void present_decrypt(const present_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) {
    uint16_t state[4];
    for (; blocks > 0; blocks--, in += PRESENT_BLOCK_BYTES, out += PRESENT_BLOCK_BYTES) {
        present_load(state, in, 4);
        add(state, ctx->round_keys[PRESENT_ROUNDS]);
        for (unsigned round = PRESENT_ROUNDS; round-- > 0;) {
            inverse_substitute_permute(state);
            add(state, ctx->round_keys[round]);
        }
        store(out, state, 4);
    }
    crypto_wipe(state, sizeof state);
}
