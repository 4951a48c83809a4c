#include "aes.h"
#include "aes-key-expansion.h"

#define ENTRY(s) (s)
static const uint8_t sbox[256] = {AES_SBOX(ENTRY)};
static const uint8_t inverse_sbox[256] = {AES_INVERSE_SBOX(ENTRY)};

/* Byte 4 c + r of a state is in row r and column c (FIPS 197, 3.4). Macros, not functions: a
   compiler that does not optimise calls those, for each of 160 bytes. */

/* FIPS 197, 4.2.1. */
#define XTIME(b) ((uint8_t)((uint8_t)(b) << 1 ^ (0x1b & (uint8_t)-(uint8_t)((uint8_t)(b) >> 7))))

/* MixColumns of a column, and the round key that comes next. */
#define MIX(out, key, a, b, c, d)                                                                  \
    do {                                                                                           \
        uint8_t all = (a) ^ (b) ^ (c) ^ (d);                                                       \
        (out)[0] = (a) ^ all ^ XTIME((a) ^ (b)) ^ (key)[0];                                        \
        (out)[1] = (b) ^ all ^ XTIME((b) ^ (c)) ^ (key)[1];                                        \
        (out)[2] = (c) ^ all ^ XTIME((c) ^ (d)) ^ (key)[2];                                        \
        (out)[3] = (d) ^ all ^ XTIME((d) ^ (a)) ^ (key)[3];                                        \
    } while (0)

/* Column c of the next state, whose rows come from columns c, c + 1, c + 2, c + 3 (ShiftRows). */
#define COLUMN(c)                                                                                  \
    do {                                                                                           \
        uint8_t a0 = sbox[from[4 * (c)]], a1 = sbox[from[(4 * (c) + 5) & 15]];                     \
        uint8_t a2 = sbox[from[(4 * (c) + 10) & 15]], a3 = sbox[from[(4 * (c) + 15) & 15]];        \
        MIX(to + 4 * (c), round_key + 4 * (c), a0, a1, a2, a3);                                    \
    } while (0)

#define LAST(i) out[i] = sbox[from[(5 * (i)) & 15]] ^ round_key[i]

/* InvMixColumns is MixColumns of circ(5, 0, 4, 0) times the column: Daemen and Rijmen, The Design
   of Rijndael, section 4.1.3. The round key comes before it. */
#define INVERSE_COLUMN(c)                                                                          \
    do {                                                                                           \
        const uint8_t *key = round_key + 4 * (c);                                                  \
        uint8_t a0 = inverse_sbox[from[4 * (c)]] ^ key[0];                                         \
        uint8_t a1 = inverse_sbox[from[(4 * (c) + 13) & 15]] ^ key[1];                             \
        uint8_t a2 = inverse_sbox[from[(4 * (c) + 10) & 15]] ^ key[2];                             \
        uint8_t a3 = inverse_sbox[from[(4 * (c) + 7) & 15]] ^ key[3];                              \
        uint8_t even = a0 ^ a2, odd = a1 ^ a3;                                                     \
        even = XTIME(even);                                                                        \
        even = XTIME(even);                                                                        \
        odd = XTIME(odd);                                                                          \
        odd = XTIME(odd);                                                                          \
        a0 ^= even;                                                                                \
        a1 ^= odd;                                                                                 \
        a2 ^= even;                                                                                \
        a3 ^= odd;                                                                                 \
        MIX(to + 4 * (c), none, a0, a1, a2, a3);                                                   \
    } while (0)

#define INVERSE_LAST(i) out[i] = inverse_sbox[from[(13 * (i)) & 15]] ^ round_key[i]

#define ALL(f)                                                                                     \
    f(0), f(1), f(2), f(3), f(4), f(5), f(6), f(7), f(8), f(9), f(10), f(11), f(12), f(13), f(14), \
        f(15)

void aes_init(aes_ctx *ctx, const uint8_t *key) {
    for (size_t i = 0; i < AES_KEY_BYTES; i++)
        ctx->key[i] = key[i];
}

void aes_encrypt(const aes_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) {
    uint8_t schedule[AES_SCHEDULE_BYTES], states[2][16];
    for (; blocks > 0; blocks--, in += 16, out += 16) {
        uint8_t *from = states[0], *to = states[1];
        const uint8_t *round_key = schedule;
        aes_key_expansion(schedule, ctx->key, sbox);
        for (unsigned i = 0; i < 16; i++)
            from[i] = in[i] ^ round_key[i];
        for (unsigned round = 1; round < AES_ROUNDS; round++) {
            round_key += 16;
            COLUMN(0);
            COLUMN(1);
            COLUMN(2);
            COLUMN(3);
            uint8_t *swapped = from;
            from = to;
            to = swapped;
        }
        round_key += 16;
        ALL(LAST);
    }
    crypto_wipe(schedule, sizeof schedule);
    crypto_wipe(states, sizeof states);
}

void aes_decrypt(const aes_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) {
    static const uint8_t none[4] = {0};
    uint8_t schedule[AES_SCHEDULE_BYTES], states[2][16];
    for (; blocks > 0; blocks--, in += 16, out += 16) {
        uint8_t *from = states[0], *to = states[1];
        aes_key_expansion(schedule, ctx->key, sbox);
        const uint8_t *round_key = schedule + 16 * AES_ROUNDS;
        for (unsigned i = 0; i < 16; i++)
            from[i] = in[i] ^ round_key[i];
        for (unsigned round = 1; round < AES_ROUNDS; round++) {
            round_key -= 16;
            INVERSE_COLUMN(0);
            INVERSE_COLUMN(1);
            INVERSE_COLUMN(2);
            INVERSE_COLUMN(3);
            uint8_t *swapped = from;
            from = to;
            to = swapped;
        }
        round_key -= 16;
        ALL(INVERSE_LAST);
    }
    crypto_wipe(schedule, sizeof schedule);
    crypto_wipe(states, sizeof states);
}
