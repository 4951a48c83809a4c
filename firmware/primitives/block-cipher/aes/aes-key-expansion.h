/* KeyExpansion (FIPS 197, 5.2) in bytes, for implementations that look up S-box values. */
#ifndef AES_KEY_EXPANSION_H
#define AES_KEY_EXPANSION_H

#include "aes-parameters.h"
#include "aes-sbox.h"

static void aes_key_expansion(uint8_t w[AES_SCHEDULE_BYTES], const uint8_t *key,
                              const uint8_t sbox[256]) {
    for (size_t i = 0; i < AES_KEY_BYTES; i++)
        w[i] = key[i];
    uint8_t rcon = 1;
    for (size_t i = AES_KEY_BYTES, position = 0; i < AES_SCHEDULE_BYTES; i += 4) {
        uint8_t a = w[i - 4], b = w[i - 3], c = w[i - 2], d = w[i - 1];
        if (position == 0) { /* RotWord, SubWord, Rcon */
            uint8_t first = a;
            a = (uint8_t)(sbox[b] ^ rcon);
            b = sbox[c];
            c = sbox[d];
            d = sbox[first];
            rcon = (uint8_t)AES_MUL2(rcon);
        } else if (AES_KEY_WORDS > 6 && position == 16) {
            a = sbox[a];
            b = sbox[b];
            c = sbox[c];
            d = sbox[d];
        }
        w[i] = w[i - AES_KEY_BYTES] ^ a;
        w[i + 1] = w[i + 1 - AES_KEY_BYTES] ^ b;
        w[i + 2] = w[i + 2 - AES_KEY_BYTES] ^ c;
        w[i + 3] = w[i + 3 - AES_KEY_BYTES] ^ d;
        position = position + 4 == AES_KEY_BYTES ? 0 : position + 4;
    }
}

#endif
