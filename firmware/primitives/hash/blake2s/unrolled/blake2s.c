#include "blake2s-body.h"

/* G of RFC 7693, section 3.1, on words known at compile time. */
#define ROTR(x, n) ((x) >> (n) | (x) << (32 - (n)))
#define MIX(a, b, c, d, x, y)                                                                      \
    do {                                                                                           \
        v[a] += v[b] + m[x];                                                                       \
        v[d] = ROTR(v[d] ^ v[a], 16);                                                              \
        v[c] += v[d];                                                                              \
        v[b] = ROTR(v[b] ^ v[c], 12);                                                              \
        v[a] += v[b] + m[y];                                                                       \
        v[d] = ROTR(v[d] ^ v[a], 8);                                                               \
        v[c] += v[d];                                                                              \
        v[b] = ROTR(v[b] ^ v[c], 7);                                                               \
    } while (0)

/* Each round takes the message words in its own order (section 2.7). */
#define ROUND(a, b, c, d, e, f, g, h, i, j, k, l, n, o, p, q)                                      \
    do {                                                                                           \
        MIX(0, 4, 8, 12, a, b);                                                                    \
        MIX(1, 5, 9, 13, c, d);                                                                    \
        MIX(2, 6, 10, 14, e, f);                                                                   \
        MIX(3, 7, 11, 15, g, h);                                                                   \
        MIX(0, 5, 10, 15, i, j);                                                                   \
        MIX(1, 6, 11, 12, k, l);                                                                   \
        MIX(2, 7, 8, 13, n, o);                                                                    \
        MIX(3, 4, 9, 14, p, q);                                                                    \
    } while (0)

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
    ROUND(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    ROUND(14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3);
    ROUND(11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4);
    ROUND(7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8);
    ROUND(9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13);
    ROUND(2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9);
    ROUND(12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11);
    ROUND(13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10);
    ROUND(6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5);
    ROUND(10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0);
    for (unsigned i = 0; i < 8; i++)
        h[i] ^= v[i] ^ v[i + 8];
    crypto_wipe(m, sizeof m);
    crypto_wipe(v, sizeof v);
}
