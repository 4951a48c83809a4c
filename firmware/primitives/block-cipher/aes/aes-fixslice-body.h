/* Key expansion of fixsliced implementations. The rest is in aes.S, which defines the planes. */
#include "aes-sbox.h"
#include "aes.h"

/* In aes.S: SubBytes on the planes, without the constant; conversion of words of columns to planes,
   or back. */
void aes_sub_planes(uint32_t planes[8]);
void aes_transpose(uint32_t planes[8]);

static uint32_t turn(uint32_t word, unsigned bits) {
    return word << bits | word >> (32 - bits);
}

/* SubWord of FIPS 197, 5.2, on four bytes in one position of the planes. */
static uint32_t sub_word(uint32_t word) {
    uint32_t planes[8];
    for (unsigned i = 0; i < 8; i++)
        planes[i] = word >> i & 0x01010101;
    aes_sub_planes(planes);
    word = 0x63636363;
    for (unsigned i = 0; i < 8; i++)
        word ^= (planes[i] & 0x01010101) << i;
    crypto_wipe(planes, sizeof planes);
    return word;
}

/* Makes the planes of a round key, the same for both blocks, permuted for k omitted ShiftRows: row
   r is k r columns further on. */
static void to_planes(uint32_t planes[8], const uint32_t columns[4], unsigned k) {
    for (unsigned c = 0; c < 4; c++) {
        uint32_t even = (columns[c] & 0x000000ff) | (columns[(c - 2 * k) % 4] & 0x00ff0000);
        uint32_t odd = (columns[(c - k) % 4] & 0x0000ff00) | (columns[(c + k) % 4] & 0xff000000);
        planes[2 * c] = planes[2 * c + 1] = even | odd;
    }
    aes_transpose(planes);
}

void aes_init(aes_ctx *ctx, const uint8_t *key) {
    uint32_t w[4 * (AES_ROUNDS + 1)], word = 0;
    for (size_t i = 0; i < AES_KEY_WORDS; i++, key += 4)
        w[i] = word = (uint32_t)key[0] | (uint32_t)key[1] << 8 | (uint32_t)key[2] << 16 |
                      (uint32_t)key[3] << 24;
    unsigned rcon = 1;
    for (size_t i = AES_KEY_WORDS, position = 0; i < 4 * (AES_ROUNDS + 1); i++) {
        if (position == 0) {
            word = sub_word(turn(word, 24)) ^ rcon;
            rcon = AES_MUL2(rcon);
        } else if (AES_KEY_WORDS > 6 && position == 4) {
            word = sub_word(word);
        }
        word ^= w[i - AES_KEY_WORDS];
        w[i] = word;
        position = position + 1 == AES_KEY_WORDS ? 0 : position + 1;
    }
    for (unsigned round = 0; round <= AES_ROUNDS; round++) {
        uint32_t *round_key = ctx->round_keys[round];
        to_planes(round_key, w + 4 * round, round);
        if (round > 0) { /* the constant of SubBytes, which MixColumns leaves unchanged */
            round_key[0] = ~round_key[0];
            round_key[1] = ~round_key[1];
            round_key[5] = ~round_key[5];
            round_key[6] = ~round_key[6];
        }
    }
    crypto_wipe(w, sizeof w);
}
