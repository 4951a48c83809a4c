/* Keccak-f[1600] for the MSP430, on lanes interleaved over four words; a .S file of the
   implementation includes permutation/keccak-f1600-msp430.S. */
#ifndef KECCAK_F1600_MSP430_H
#define KECCAK_F1600_MSP430_H

#include "crypto.h"

/* Bit i of a lane is bit i / 4 of its word i % 4, so that rotating a lane by n rotates its words by
   n / 4 or one more and renames them. */
typedef struct {
    uint16_t word[4];
} keccak_lane;

/* Keccak-p[1600, 24] of FIPS 202, section 3.3; in keccak-f1600-msp430.S. */
void keccak_f1600(keccak_lane state[25]);

static inline void keccak_permute(keccak_lane state[25]) {
    keccak_f1600(state);
}

/* Swaps the bits of x under mask with those n positions higher. */
static inline uint16_t exchange_within(uint16_t x, unsigned n, uint16_t mask) {
    uint16_t t = (uint16_t)((x >> n ^ x) & mask);
    return (uint16_t)(x ^ t ^ t << n);
}

/* Swaps the bits of b under mask with those of a n positions higher. */
static inline void exchange(uint16_t *a, uint16_t *b, unsigned n, uint16_t mask) {
    uint16_t t = (uint16_t)((*a >> n ^ *b) & mask);
    *b ^= t;
    *a ^= (uint16_t)(t << n);
}

/* A bit's number has six bits: word (5 4), position (3 2 1 0). First swaps (3 2) with (1 0), then
   (5 4) with the new (3 2). */
static inline void interleave(uint16_t w[4]) {
    for (unsigned i = 0; i < 4; i++)
        w[i] = exchange_within(exchange_within(w[i], 6, 0x00cc), 3, 0x0a0a);
    exchange(&w[0], &w[2], 8, 0x00ff);
    exchange(&w[1], &w[3], 8, 0x00ff);
    exchange(&w[0], &w[1], 4, 0x0f0f);
    exchange(&w[2], &w[3], 4, 0x0f0f);
}

static inline void deinterleave(uint16_t w[4]) {
    exchange(&w[0], &w[1], 4, 0x0f0f);
    exchange(&w[2], &w[3], 4, 0x0f0f);
    exchange(&w[0], &w[2], 8, 0x00ff);
    exchange(&w[1], &w[3], 8, 0x00ff);
    for (unsigned i = 0; i < 4; i++)
        w[i] = exchange_within(exchange_within(w[i], 6, 0x00cc), 3, 0x0a0a);
}

static inline void keccak_add(keccak_lane *state, unsigned lane, const uint8_t bytes[8]) {
    uint16_t w[4];
    for (unsigned i = 0; i < 4; i++)
        w[i] = (uint16_t)(bytes[2 * i] | bytes[2 * i + 1] << 8);
    interleave(w);
    for (unsigned i = 0; i < 4; i++)
        state[lane].word[i] ^= w[i];
}

/* Adds the last bit of the padding, which is bit 63 of the rate's last lane. */
static inline void keccak_add_bit63(keccak_lane *state, unsigned lane) {
    state[lane].word[3] ^= 0x8000;
}

static inline void keccak_get(const keccak_lane *state, unsigned lane, uint8_t bytes[8]) {
    uint16_t w[4];
    for (unsigned i = 0; i < 4; i++)
        w[i] = state[lane].word[i];
    deinterleave(w);
    for (unsigned i = 0; i < 4; i++) {
        *bytes++ = (uint8_t)w[i];
        *bytes++ = (uint8_t)(w[i] >> 8);
    }
}

#endif
