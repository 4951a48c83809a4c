/* Shared by Curupira-1 and Curupira-2 on ARMv7-M; the rounds are in curupira-armv7m.inc.

   A column is a word: row 0 in bits 0 to 7, row 1 in bits 8 to 15, row 2 in bits 17 to 24. Bits 16
   and 26 are set, so that nine bits from bit 8 and ten bits from bit 17 are rows 1 and 2 plus 256
   and 512: their indices in one table of three parts. The round keys set these bits. */
#ifndef CURUPIRA_ARMV7M_H
#define CURUPIRA_ARMV7M_H

#include "block-cipher/curupira-2/curupira-rounds.h"

#define CURUPIRA_COLUMN(r0, r1, r2) ((uint32_t)((r0) | (r1) << 8) | (uint32_t)(r2) << 17)
#define CURUPIRA_MARKS 0x04010000u

/* Makes columns of round keys, in order of use, from bytes. For decryption, applies theta to all
   but the first and the last, because theta(a) + theta(k) = theta(a + k). */
static inline void curupira_columns(uint32_t *columns, uint8_t *round_key, unsigned rounds,
                                    int decrypting) {
    for (unsigned r = 0; r <= rounds; r++, columns += 4) {
        uint8_t *k = round_key + CURUPIRA_BLOCK_BYTES * (decrypting ? rounds - r : r);
        if (decrypting && r > 0 && r < rounds)
            curupira_theta(k);
        for (unsigned j = 0; j < 4; j++, k += 3)
            columns[j] = CURUPIRA_COLUMN(k[0], k[1], k[2]) | (r < rounds ? CURUPIRA_MARKS : 0);
    }
}

#endif
