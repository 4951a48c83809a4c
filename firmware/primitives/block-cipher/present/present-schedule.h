/* The key schedule of PRESENT. */
#ifndef PRESENT_SCHEDULE_H
#define PRESENT_SCHEDULE_H

#include "present.h"

enum { PRESENT_KEY_WORDS = PRESENT_KEY_BITS / 16 };

static const uint8_t present_sbox[16] = {0xc, 0x5, 0x6, 0xb, 0x9, 0x0, 0xa, 0xd,
                                         0x3, 0xe, 0xf, 0x8, 0x4, 0x7, 0x1, 0x2};

/* Converts big-endian bytes to words, least significant word first. */
static void present_load(uint16_t *words, const uint8_t *in, unsigned count) {
    for (unsigned i = 0; i < count; i++, in += 2)
        words[count - 1 - i] = (uint16_t)((unsigned)in[0] << 8 | in[1]);
}

/* Computes all round keys, least significant word first. */
static void present_expand(uint16_t round_keys[][4], const uint8_t *key) {
    uint16_t k[PRESENT_KEY_WORDS], rotated[PRESENT_KEY_WORDS];
    present_load(k, key, PRESENT_KEY_WORDS);
    for (unsigned round = 0;; round++) {
        for (unsigned i = 0; i < 4; i++)
            round_keys[round][i] = k[PRESENT_KEY_WORDS - 4 + i];
        if (round == PRESENT_ROUNDS)
            break;

        /* A rotation left by 61 is a rotation left by four words and right by 3 bits. */
        for (unsigned i = 0; i < PRESENT_KEY_WORDS; i++) {
            unsigned low = (i + PRESENT_KEY_WORDS - 4) % PRESENT_KEY_WORDS,
                     high = (low + 1) % PRESENT_KEY_WORDS;
            rotated[i] = (uint16_t)(k[low] >> 3 | (unsigned)k[high] << 13);
        }
        for (unsigned i = 0; i < PRESENT_KEY_WORDS; i++)
            k[i] = rotated[i];

        /* The S-box on the top nibble, or the top two, and the round counter on bits 19 to 15, or
           66 to 62. */
        unsigned counter = round + 1;
        uint16_t *top = &k[PRESENT_KEY_WORDS - 1];
        *top = (uint16_t)((*top & 0x0fff) | (unsigned)present_sbox[*top >> 12] << 12);
#if PRESENT_KEY_BITS == 80
        k[1] ^= (uint16_t)(counter >> 1);
        k[0] ^= (uint16_t)(counter << 15);
#else
        *top = (uint16_t)((*top & 0xf0ff) | (unsigned)present_sbox[*top >> 8 & 15] << 8);
        k[4] ^= (uint16_t)(counter >> 2);
        k[3] ^= (uint16_t)(counter << 14);
#endif
    }
    crypto_wipe(k, sizeof k);
    crypto_wipe(rotated, sizeof rotated);
}

#endif
