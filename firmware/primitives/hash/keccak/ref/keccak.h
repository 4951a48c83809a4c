/* Sponges over Keccak-f[1600] with a digest of fixed length. The state is stored as bytes, so that
   absorbing is independent of byte order. */
#ifndef KECCAK_H
#define KECCAK_H

#include "hash.h"

enum { KECCAK_DIGEST_BYTES = KECCAK_DIGEST, KECCAK_BLOCK_BYTES = KECCAK_RATE };

typedef struct {
    _Alignas(
        8) uint8_t state[200]; /* lane (x, y) is at 8 (x + 5 y), least significant byte first */
    unsigned fill;             /* bytes absorbed since the last permutation */
} keccak_ctx;

void keccak_init(keccak_ctx *ctx);
void keccak_update(keccak_ctx *ctx, const uint8_t *data, size_t length);
void keccak_final(keccak_ctx *ctx, uint8_t *digest);

#endif
