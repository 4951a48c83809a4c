/* Tables for aes.S. */
#ifndef AES_TABLES_H
#define AES_TABLES_H

#include <stdint.h>

/* S(x) times (2, 1, 1, 3). */
extern uint32_t aes_table[256];

/* Inverse S(x) times (14, 9, 13, 11), and alone. */
typedef struct {
    uint32_t columns[256];
    uint8_t sbox[256];
} aes_inverse_tables;
extern aes_inverse_tables aes_inverse_table;

#endif
