/* Sponges over Keccak-f[1600] with a digest of fixed length, for RISC-V. */
#ifndef KECCAK_H
#define KECCAK_H

#include "hash.h"
#include "permutation/keccak-f1600-riscv.h"

enum { KECCAK_DIGEST_BYTES = KECCAK_DIGEST, KECCAK_BLOCK_BYTES = KECCAK_RATE };

typedef struct {
    keccak_lane state[25]; /* lane (x, y) is number x + 5 y */
    uint8_t pending[8];    /* bytes of an incomplete lane */
    unsigned fill;         /* bytes absorbed since the last permutation, including pending ones */
} keccak_ctx;

void keccak_init(keccak_ctx *ctx);
void keccak_update(keccak_ctx *ctx, const uint8_t *data, size_t length);
void keccak_final(keccak_ctx *ctx, uint8_t *digest);

#endif
