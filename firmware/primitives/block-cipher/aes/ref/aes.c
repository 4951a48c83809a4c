#include "aes.h"
#include "aes-key-expansion.h"

#define ENTRY(s) (s)
static const uint8_t sbox[256] = {AES_SBOX(ENTRY)};
static const uint8_t inverse_sbox[256] = {AES_INVERSE_SBOX(ENTRY)};

/* The state has the order of the input: byte 4 c + r is in row r and column c (FIPS 197, 3.4). */

/* FIPS 197, 4.2.1. The barrier keeps clang from branching on the bit shifted out. */
static uint8_t xtime(uint8_t b) {
    unsigned mask = (uint16_t)(int8_t)b >> 8;
    __asm__("" : "+r"(mask));
    return (uint8_t)(b << 1 ^ (mask & 0x1b));
}

static void add_round_key(uint8_t state[16], const uint8_t *round_key) {
    for (unsigned i = 0; i < 16; i++)
        state[i] ^= round_key[i];
}

/* SubBytes and ShiftRows, into another buffer. */
static void sub_bytes_shift_rows(uint8_t out[16], const uint8_t in[16]) {
    for (unsigned i = 0; i < 16; i++)
        out[i] = sbox[in[(5 * i) & 15]];
}

static void inverse_sub_bytes_shift_rows(uint8_t out[16], const uint8_t in[16]) {
    for (unsigned i = 0; i < 16; i++)
        out[(5 * i) & 15] = inverse_sbox[in[i]];
}

static void mix_columns(uint8_t state[16]) {
    for (uint8_t *column = state; column < state + 16; column += 4) {
        uint8_t a = column[0], b = column[1], c = column[2], d = column[3];
        uint8_t sum = a ^ b ^ c ^ d;
        column[0] = a ^ sum ^ xtime(a ^ b);
        column[1] = b ^ sum ^ xtime(b ^ c);
        column[2] = c ^ sum ^ xtime(c ^ d);
        column[3] = d ^ sum ^ xtime(d ^ a);
    }
}

/* The inverse matrix is the matrix times circ(5, 0, 4, 0): Daemen and Rijmen, The Design of
   Rijndael, section 4.1.3. */
static void inverse_mix_columns(uint8_t state[16]) {
    for (uint8_t *column = state; column < state + 16; column += 4) {
        uint8_t even = xtime(xtime(column[0] ^ column[2]));
        uint8_t odd = xtime(xtime(column[1] ^ column[3]));
        column[0] ^= even;
        column[1] ^= odd;
        column[2] ^= even;
        column[3] ^= odd;
    }
    mix_columns(state);
}

void aes_init(aes_ctx *ctx, const uint8_t *key) {
    aes_key_expansion(ctx->round_keys, key, sbox);
}

void aes_encrypt(const aes_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) {
    uint8_t state[16], shifted[16];
    for (; blocks > 0; blocks--, in += 16, out += 16) {
        const uint8_t *round_key = ctx->round_keys;
        for (unsigned i = 0; i < 16; i++)
            state[i] = in[i] ^ round_key[i];
        for (unsigned round = 1;; round++) {
            round_key += 16;
            sub_bytes_shift_rows(shifted, state);
            if (round == AES_ROUNDS)
                break;
            for (unsigned i = 0; i < 16; i++)
                state[i] = shifted[i];
            mix_columns(state);
            add_round_key(state, round_key);
        }
        for (unsigned i = 0; i < 16; i++)
            out[i] = shifted[i] ^ round_key[i];
    }
    crypto_wipe(state, sizeof state);
    crypto_wipe(shifted, sizeof shifted);
}

void aes_decrypt(const aes_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) {
    uint8_t state[16], shifted[16];
    for (; blocks > 0; blocks--, in += 16, out += 16) {
        const uint8_t *round_key = ctx->round_keys + 16 * AES_ROUNDS;
        for (unsigned i = 0; i < 16; i++)
            shifted[i] = in[i] ^ round_key[i];
        for (unsigned round = AES_ROUNDS;; round--) {
            round_key -= 16;
            inverse_sub_bytes_shift_rows(state, shifted);
            add_round_key(state, round_key);
            if (round == 1)
                break;
            inverse_mix_columns(state);
            for (unsigned i = 0; i < 16; i++)
                shifted[i] = state[i];
        }
        for (unsigned i = 0; i < 16; i++)
            out[i] = state[i];
    }
    crypto_wipe(state, sizeof state);
    crypto_wipe(shifted, sizeof shifted);
}
