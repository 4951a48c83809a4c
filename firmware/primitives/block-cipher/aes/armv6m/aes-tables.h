/* The tables, which aes.S uses, too. */
#ifndef AES_TABLES_H
#define AES_TABLES_H

#include <stdint.h>

/* For each byte its columns in rows 0 to 3, after SubBytes and MixColumns. Byte 1 of the first is
   that of SubBytes alone. */
extern const uint32_t aes_table[256][4];

typedef struct {
    uint32_t columns[256][4]; /* after the inverses of both */
    uint8_t sbox[256];        /* after that of SubBytes alone */
} aes_inverse_tables;

extern const aes_inverse_tables aes_inverse_table;

#endif
