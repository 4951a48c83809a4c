/* Key expansion of implementations with tables of columns, which define `substitute`, SubWord of
   FIPS 197, 5.2, before they include this. */
#include "aes-sbox.h"
#include "aes.h"

static uint32_t turn(uint32_t word, unsigned bits) {
    return word << bits | word >> (32 - bits);
}

/* Multiplies each byte by x (FIPS 197, 4.2.1). */
static uint32_t xtimes(uint32_t word) {
    return (word & 0x7f7f7f7f) << 1 ^ (word >> 7 & 0x01010101) * 0x1b;
}

/* The inverse matrix is the matrix times circ(5, 0, 4, 0): Daemen and Rijmen, The Design of
   Rijndael, section 4.1.3. Computed without a table, so that a program that never decrypts does not
   link the inverse one. */
static uint32_t inverse_mix_columns(uint32_t word) {
    word ^= xtimes(xtimes(word ^ turn(word, 16)));
    uint32_t below = turn(word, 24), sum = word ^ below;
    return xtimes(sum) ^ below ^ turn(sum, 16);
}

/* KeyExpansion of FIPS 197, 5.2, with the first byte of a word least significant. */
void aes_init(aes_ctx *ctx, const uint8_t *key) {
    uint32_t *w = ctx->encrypt_keys, word = 0;
    for (size_t i = 0; i < AES_KEY_WORDS; i++, key += 4)
        w[i] = word = COLUMN(key[0], key[1], key[2], key[3]);
    unsigned rcon = 1;
    for (size_t i = AES_KEY_WORDS, position = 0; i < 4 * (AES_ROUNDS + 1); i++) {
        if (position == 0) {
            word = substitute(turn(word, 24)) ^ rcon;
            rcon = AES_MUL2(rcon);
        } else if (AES_KEY_WORDS > 6 && position == 4) {
            word = substitute(word);
        }
        word ^= w[i - AES_KEY_WORDS];
        w[i] = word;
        position = position + 1 == AES_KEY_WORDS ? 0 : position + 1;
    }
    /* Last round key first. */
    for (size_t c = 0; c < 4; c++) {
        ctx->decrypt_keys[c] = w[4 * AES_ROUNDS + c];
        ctx->decrypt_keys[4 * AES_ROUNDS + c] = w[c];
    }
    for (size_t i = 1; i < AES_ROUNDS; i++)
        for (size_t c = 0; c < 4; c++)
            ctx->decrypt_keys[4 * (AES_ROUNDS - i) + c] = inverse_mix_columns(w[4 * i + c]);
}
