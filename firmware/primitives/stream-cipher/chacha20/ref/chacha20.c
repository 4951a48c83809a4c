#include "chacha20-body.h"

static uint32_t rotl(uint32_t x, unsigned n) {
    return x << n | x >> (32 - n);
}

static void quarter_round(uint32_t *a, uint32_t *b, uint32_t *c, uint32_t *d) {
    *a += *b;
    *d = rotl(*d ^ *a, 16);
    *c += *d;
    *b = rotl(*b ^ *c, 12);
    *a += *b;
    *d = rotl(*d ^ *a, 8);
    *c += *d;
    *b = rotl(*b ^ *c, 7);
}

void chacha20_block(uint8_t stream[CHACHA20_BLOCK_BYTES], const uint32_t state[16]) {
    uint32_t x[16];
    for (unsigned i = 0; i < 16; i++)
        x[i] = state[i];
    for (unsigned round = 0; round < 20; round += 2) {
        quarter_round(&x[0], &x[4], &x[8], &x[12]);
        quarter_round(&x[1], &x[5], &x[9], &x[13]);
        quarter_round(&x[2], &x[6], &x[10], &x[14]);
        quarter_round(&x[3], &x[7], &x[11], &x[15]);
        quarter_round(&x[0], &x[5], &x[10], &x[15]);
        quarter_round(&x[1], &x[6], &x[11], &x[12]);
        quarter_round(&x[2], &x[7], &x[8], &x[13]);
        quarter_round(&x[3], &x[4], &x[9], &x[14]);
    }
    for (unsigned i = 0; i < 16; i++) {
        uint32_t word = x[i] + state[i];
        *stream++ = (uint8_t)word;
        *stream++ = (uint8_t)(word >> 8);
        *stream++ = (uint8_t)(word >> 16);
        *stream++ = (uint8_t)(word >> 24);
    }
    crypto_wipe(x, sizeof x);
}
