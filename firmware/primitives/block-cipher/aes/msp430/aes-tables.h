/* Tables for aes.S. A half column is a word: an even row in its low byte, the odd row below it in
   its high byte. */
#ifndef AES_TABLES_H
#define AES_TABLES_H

#include <stdint.h>

extern const uint8_t aes_sbox[256];
extern const uint8_t aes_inverse_sbox[256];

/* S(x) times the two coefficients: a byte's contribution to half a column in MixColumns. */
extern const uint16_t aes_sbox_21[256];
extern const uint16_t aes_sbox_13[256];
extern const uint16_t aes_sbox_32[256];
extern const uint16_t aes_sbox_11[256];

/* x times the two coefficients: the same for InvMixColumns, which follows AddRoundKey. */
extern const uint16_t aes_times_e9[256];
extern const uint16_t aes_times_db[256];
extern const uint16_t aes_times_be[256];
extern const uint16_t aes_times_9d[256];

#endif
