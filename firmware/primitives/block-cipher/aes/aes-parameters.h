/* Sizes of AES by key length, AES_KEY_BITS = 128, 192 or 256 (FIPS 197, table 3). */
#ifndef AES_PARAMETERS_H
#define AES_PARAMETERS_H

#include "block-cipher.h"

enum { AES_KEY_BYTES = AES_KEY_BITS / 8, AES_BLOCK_BYTES = 16 };
enum {
    AES_KEY_WORDS = AES_KEY_BITS / 32,
    AES_ROUNDS = AES_KEY_WORDS + 6,
    AES_SCHEDULE_BYTES = 16 * (AES_ROUNDS + 1)
};
_Static_assert(AES_KEY_BITS == 128 || AES_KEY_BITS == 192 || AES_KEY_BITS == 256, "AES_KEY_BITS");

#endif
