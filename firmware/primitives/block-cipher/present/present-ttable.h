/* PRESENT with tables indexed by bytes; PRESENT_KEY_BITS = 80 or 128. */
#ifndef PRESENT_H
#define PRESENT_H

#include "block-cipher.h"

enum { PRESENT_KEY_BYTES = PRESENT_KEY_BITS / 8, PRESENT_BLOCK_BYTES = 8, PRESENT_ROUNDS = 31 };
_Static_assert(PRESENT_KEY_BITS == 80 || PRESENT_KEY_BITS == 128, "PRESENT_KEY_BITS");

typedef struct {
    uint32_t even, odd; /* bytes 0, 2, 4, 6 and 1, 3, 5, 7, least significant first */
} present_state;

typedef struct {
    present_state round_keys[PRESENT_ROUNDS + 1];
} present_ctx;

extern const uint32_t present_table[256];

void present_init(present_ctx *ctx, const uint8_t *key);
void present_encrypt(const present_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks);
void present_decrypt(const present_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks);

#endif
