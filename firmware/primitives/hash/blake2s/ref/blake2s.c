#include "blake2s-body.h"

static const uint8_t sigma[10][16] = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
                                      {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
                                      {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
                                      {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
                                      {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
                                      {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
                                      {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
                                      {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
                                      {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
                                      {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0}};

static uint32_t rotr(uint32_t x, unsigned n) {
    return x >> n | x << (32 - n);
}

static void mix(uint32_t *a, uint32_t *b, uint32_t *c, uint32_t *d, uint32_t x, uint32_t y) {
    *a += *b + x;
    *d = rotr(*d ^ *a, 16);
    *c += *d;
    *b = rotr(*b ^ *c, 12);
    *a += *b + y;
    *d = rotr(*d ^ *a, 8);
    *c += *d;
    *b = rotr(*b ^ *c, 7);
}

void blake2s_compress(uint32_t h[8], const uint8_t *block, const uint32_t t[2], unsigned last) {
    uint32_t m[16], v[16];
    for (unsigned i = 0; i < 16; i++, block += 4)
        m[i] = (uint32_t)block[3] << 24 | (uint32_t)block[2] << 16 | (uint32_t)block[1] << 8 |
               block[0];
    for (unsigned i = 0; i < 8; i++) {
        v[i] = h[i];
        v[i + 8] = blake2s_iv[i];
    }
    v[12] ^= t[0];
    v[13] ^= t[1];
    if (last)
        v[14] = ~v[14];
    for (unsigned round = 0; round < 10; round++) {
        const uint8_t *s = sigma[round];
        mix(&v[0], &v[4], &v[8], &v[12], m[s[0]], m[s[1]]);
        mix(&v[1], &v[5], &v[9], &v[13], m[s[2]], m[s[3]]);
        mix(&v[2], &v[6], &v[10], &v[14], m[s[4]], m[s[5]]);
        mix(&v[3], &v[7], &v[11], &v[15], m[s[6]], m[s[7]]);
        mix(&v[0], &v[5], &v[10], &v[15], m[s[8]], m[s[9]]);
        mix(&v[1], &v[6], &v[11], &v[12], m[s[10]], m[s[11]]);
        mix(&v[2], &v[7], &v[8], &v[13], m[s[12]], m[s[13]]);
        mix(&v[3], &v[4], &v[9], &v[14], m[s[14]], m[s[15]]);
    }
    for (unsigned i = 0; i < 8; i++)
        h[i] ^= v[i] ^ v[i + 8];
    crypto_wipe(m, sizeof m);
    crypto_wipe(v, sizeof v);
}
