/* What sets of SLH-DSA (FIPS 205) have in common, whatever they hash by. */
#ifndef SLHDSA_SIZES_H
#define SLHDSA_SIZES_H

#include "slhdsa.h"

enum {
    N = SLHDSA_N,
    CHAINS = SLHDSA_CHAINS,
    DIGITS = 2 * N, /* of 4 bits, of what a one-time signature signs; the others are a checksum's */
    LAYER_HEIGHT = SLHDSA_H / SLHDSA_D,
    FORS_BYTES = (SLHDSA_K * SLHDSA_A + 7) / 8, /* of the message's digest */
    TREE_BYTES = (SLHDSA_H - LAYER_HEIGHT + 7) / 8,
    LEAF_BYTES = (LAYER_HEIGHT + 7) / 8,
    DIGEST_BYTES = FORS_BYTES + TREE_BYTES + LEAF_BYTES
};

/* Types of addresses (section 4.2, table 1). */
enum {
    WOTS_HASH = 0,
    WOTS_PK = 1,
    TREE_NODE = 2,
    FORS_TREE = 3,
    FORS_ROOTS = 4,
    WOTS_PRF = 5,
    FORS_PRF = 6
};

static void put_32(uint8_t *to, uint32_t number) {
    for (unsigned i = 4; i-- > 0; number >>= 8)
        to[i] = (uint8_t)number;
}

static void copy(uint8_t *to, const uint8_t *from, unsigned length) {
    for (unsigned i = 0; i < length; i++)
        to[i] = from[i];
}

#endif
