/* XTEA for the MSP430, with 32 cycles and big-endian words; the addend of each half cycle is
   precomputed. */
#ifndef XTEA_H
#define XTEA_H

#include "block-cipher.h"

enum { XTEA_KEY_BYTES = 16, XTEA_BLOCK_BYTES = 8, XTEA_CYCLES = 32 };

typedef struct {
    uint32_t round_keys[2 * XTEA_CYCLES];
} xtea_ctx;

void xtea_init(xtea_ctx *ctx, const uint8_t *key);
void xtea_encrypt(const xtea_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks);
void xtea_decrypt(const xtea_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks);

#endif
