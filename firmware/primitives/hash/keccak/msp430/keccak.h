/* Keccak[1088, 512] with 32 bytes of output, for the MSP430. */
#ifndef KECCAK_H
#define KECCAK_H

#include "hash.h"

enum { KECCAK_DIGEST_BYTES = 32, KECCAK_BLOCK_BYTES = 136 };

/* Bit i of a lane is bit i / 4 of its word i % 4, so that rotating a lane by n rotates its words by
   n / 4 or one more and renames them. */
typedef struct {
    uint16_t word[4];
} keccak_lane;

typedef struct {
    keccak_lane state[25]; /* lane (x, y) is number x + 5 y */
    uint8_t pending[8];    /* bytes of an incomplete lane */
    unsigned fill;         /* bytes absorbed since the last permutation, including pending ones */
} keccak_ctx;

void keccak_init(keccak_ctx *ctx);
void keccak_update(keccak_ctx *ctx, const uint8_t *data, size_t length);
void keccak_final(keccak_ctx *ctx, uint8_t *digest);

#endif
