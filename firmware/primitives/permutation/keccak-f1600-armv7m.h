/* Keccak-f[1600] for ARMv7-M, on lanes of even and odd bits; a .S file of the implementation
   includes permutation/keccak-f1600-armv7m.S. */
#ifndef KECCAK_F1600_ARMV7M_H
#define KECCAK_F1600_ARMV7M_H

#include "crypto.h"
#include "permutation/interleave.h"

/* The even bits and the odd bits of a lane, each rotated right as listed below. */
typedef struct {
    uint32_t word[2];
} keccak_lane;

/* Keccak-p[1600, 24] of FIPS 202, section 3.3; in keccak-f1600-armv7m.S. */
void keccak_f1600(keccak_lane state[25]);

static inline void keccak_permute(keccak_lane state[25]) {
    keccak_f1600(state);
}

/* Right rotation of the words of the lanes as stored in the state, as far as a rate reaches. */
static const uint8_t keccak_turned[][2] = {
    {30, 26}, {23, 22}, {7, 15},  {9, 12},  {20, 19}, {16, 12}, {23, 22}, {28, 31}, {23, 23},
    {16, 24}, {1, 1},   {29, 20}, {11, 14}, {17, 16}, {7, 3},   {26, 26}, {16, 12},
#if KECCAK_RATE_MAX > 136
    {6, 5},   {25, 1},  {30, 26}, {25, 16},
#endif
};

/* 0 < n < 32; without a mask, so that it is one instruction. */
static inline uint32_t keccak_rotate_right(uint32_t x, unsigned n) {
    return x >> n | x << (32 - n);
}

static inline uint32_t keccak_rotate_left(uint32_t x, unsigned n) {
    return x << n | x >> (32 - n);
}

static inline void keccak_add(keccak_lane *state, unsigned lane, const uint8_t bytes[8]) {
    uint64_t word =
        interleave((uint64_t)crypto_load_word(bytes + 4) << 32 | crypto_load_word(bytes));
    state[lane].word[0] ^= keccak_rotate_right((uint32_t)word, keccak_turned[lane][0]);
    state[lane].word[1] ^= keccak_rotate_right((uint32_t)(word >> 32), keccak_turned[lane][1]);
}

static inline void keccak_get(const keccak_lane *state, unsigned lane, uint8_t bytes[8]) {
    uint32_t even = keccak_rotate_left(state[lane].word[0], keccak_turned[lane][0]);
    uint32_t odd = keccak_rotate_left(state[lane].word[1], keccak_turned[lane][1]);
    uint64_t word = deinterleave((uint64_t)odd << 32 | even);
    crypto_store_word(bytes, (uint32_t)word);
    crypto_store_word(bytes + 4, (uint32_t)(word >> 32));
}

/* Adds the last bit of the padding, which is bit 63 of the rate's last lane. */
static inline void keccak_add_bit63(keccak_lane *state, unsigned lane) {
    state[lane].word[1] ^= keccak_rotate_right(0x80000000, keccak_turned[lane][1]);
}

#endif
