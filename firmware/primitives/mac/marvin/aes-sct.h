/* The square-complete transform of AES: four unkeyed rounds, in place, byte by byte. It is here
   because only Marvin needs it. */
#ifndef AES_SCT_H
#define AES_SCT_H

#include "block-cipher/aes/aes-sbox.h"

static inline void aes_sct(uint8_t *block) {
#define AES_SCT_ENTRY(s) (s)
    static const uint8_t sbox[256] = {AES_SBOX(AES_SCT_ENTRY)};
    uint8_t shifted[16];
    for (unsigned round = 0; round < 4; round++) {
        for (unsigned i = 0; i < 16; i++) /* SubBytes and ShiftRows */
            shifted[i] = sbox[block[(5 * i) & 15]];
        for (unsigned i = 0; i < 16; i += 4) { /* MixColumns */
            const uint8_t *a = shifted + i;
            unsigned sum = a[0] ^ a[1] ^ a[2] ^ a[3];
            for (unsigned j = 0; j < 4; j++) {
                unsigned pair = a[j] ^ a[(j + 1) & 3];
                block[i + j] = (uint8_t)(a[j] ^ sum ^ AES_MUL2(pair));
            }
        }
    }
    crypto_wipe(shifted, sizeof shifted);
}

#endif
