/* Ascon-Hash256 over the permutation defined by an implementation folder. */
#ifndef ASCON_HASH256_SPONGE_H
#define ASCON_HASH256_SPONGE_H

#include "hash.h"
#include "permutation/ascon-p.h"

enum { ASCON_HASH256_DIGEST_BYTES = 32, ASCON_HASH256_BLOCK_BYTES = 8 };

typedef struct {
    ascon_state state;
    uint8_t block[ASCON_HASH256_BLOCK_BYTES];
    uint8_t used; /* bytes in block, below 8 between calls */
} ascon_hash256_ctx;

void ascon_hash256_init(ascon_hash256_ctx *ctx);
void ascon_hash256_update(ascon_hash256_ctx *ctx, const uint8_t *data, size_t length);
void ascon_hash256_final(ascon_hash256_ctx *ctx, uint8_t *digest);

#endif
