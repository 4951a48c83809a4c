/* Tables for aes.S. */
#ifndef AES_TABLES_H
#define AES_TABLES_H

#include <stdint.h>

/* For each row what a byte of it adds to its column, after SubBytes and MixColumns. Byte 1 of the
   first is that of SubBytes alone. */
extern const uint32_t aes_table[4][256];

/* The same of the inverses, behind that of SubBytes alone. */
typedef struct {
    uint8_t sbox[256];
    uint32_t columns[4][256];
} aes_inverse_tables;
extern const aes_inverse_tables aes_inverse_table;

#endif
