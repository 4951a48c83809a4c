/* Keccak-f[1600] in portable C, on a state of bytes: lane (x, y) is at 8 (x + 5 y), least
   significant byte first. */
#ifndef KECCAK_F1600_REF_H
#define KECCAK_F1600_REF_H

#include "crypto.h"
#include "permutation/keccak-tables.h"

static uint64_t rotl(uint64_t x, unsigned n) {
    return x << n | x >> (64 - n);
}

/* In halves: from a 64-bit shift by one, GCC for the MSP430 makes an addition with branches on its
   carries. */
static uint64_t rotl1(uint64_t x) {
    uint32_t low = (uint32_t)x, high = (uint32_t)(x >> 32);
    return (uint64_t)(high << 1 | low >> 31) << 32 | (low << 1 | high >> 31);
}

/* Keccak-p[1600, 24] of FIPS 202, section 3.3. */
static void keccak_f1600(uint8_t state[200]) {
    uint64_t a[25], c[5];
    for (unsigned i = 0; i < 25; i++) {
        a[i] = 0;
        for (unsigned j = 8; j-- > 0;)
            a[i] = a[i] << 8 | state[8 * i + j];
    }
    for (unsigned round = 0; round < 24; round++) {
        for (unsigned x = 0; x < 5; x++) /* theta */
            c[x] = a[x] ^ a[x + 5] ^ a[x + 10] ^ a[x + 15] ^ a[x + 20];
        for (unsigned x = 0; x < 5; x++) {
            uint64_t d = c[(x + 4) % 5] ^ rotl1(c[(x + 1) % 5]);
            for (unsigned y = 0; y < 25; y += 5)
                a[x + y] ^= d;
        }
        uint64_t moving = a[pi_lane[0]]; /* rho and pi */
        a[pi_lane[0]] = rotl1(a[1]);
        for (unsigned i = 1; i < 24; i++) {
            uint64_t displaced = a[pi_lane[i]];
            a[pi_lane[i]] = rotl(moving, rho_offset[i]);
            moving = displaced;
        }
        for (unsigned y = 0; y < 25; y += 5) { /* chi */
            for (unsigned x = 0; x < 5; x++)
                c[x] = a[x + y];
            for (unsigned x = 0; x < 5; x++)
                a[x + y] = c[x] ^ (~c[(x + 1) % 5] & c[(x + 2) % 5]);
        }
        a[0] ^= round_constants[round]; /* iota */
    }
    for (unsigned i = 0; i < 25; i++) {
        for (unsigned j = 0; j < 8; j++) {
            state[8 * i + j] = (uint8_t)a[i];
            a[i] >>= 8;
        }
    }
    crypto_wipe(c, sizeof c);
}

typedef struct {
    uint8_t byte[8];
} keccak_lane;

static inline void keccak_permute(keccak_lane state[25]) {
    keccak_f1600((uint8_t *)state);
}

static inline void keccak_add(keccak_lane *state, unsigned lane, const uint8_t bytes[8]) {
    for (unsigned i = 0; i < 8; i++)
        state[lane].byte[i] ^= bytes[i];
}

/* Adds the last bit of the padding, which is bit 63 of the rate's last lane. */
static inline void keccak_add_bit63(keccak_lane *state, unsigned lane) {
    state[lane].byte[7] ^= 0x80;
}

static inline void keccak_get(const keccak_lane *state, unsigned lane, uint8_t bytes[8]) {
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = state[lane].byte[i];
}

#endif
