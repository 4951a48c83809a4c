#include "aead/xoodyak/xoodyak.h"

static uint32_t rotate_left(uint32_t x, unsigned n) {
    return x << n | x >> (32 - n);
}

static void xoodoo(uint8_t state[XOODYAK_STATE_BYTES]) {
    static const uint16_t constant[12] = {0x058, 0x038, 0x3c0, 0x0d0, 0x120, 0x014,
                                          0x060, 0x02c, 0x380, 0x0f0, 0x1a0, 0x012};
    uint32_t a[3][4], b[4], p[4];

    for (size_t i = 0; i < 12; i++)
        a[i / 4][i % 4] = state[4 * i] | (uint32_t)state[4 * i + 1] << 8 |
                          (uint32_t)state[4 * i + 2] << 16 | (uint32_t)state[4 * i + 3] << 24;

    for (size_t round = 0; round < 12; round++) {
        /* theta */
        for (size_t x = 0; x < 4; x++)
            p[x] = a[0][x] ^ a[1][x] ^ a[2][x];
        for (size_t x = 0; x < 4; x++) {
            uint32_t e = rotate_left(p[(x + 3) % 4], 5) ^ rotate_left(p[(x + 3) % 4], 14);
            a[0][x] ^= e;
            a[1][x] ^= e;
            a[2][x] ^= e;
        }
        /* rho west and iota */
        for (size_t x = 0; x < 4; x++)
            b[x] = a[1][(x + 3) % 4];
        for (size_t x = 0; x < 4; x++) {
            a[1][x] = b[x];
            a[2][x] = rotate_left(a[2][x], 11);
        }
        a[0][0] ^= constant[round];
        /* chi and rho east */
        for (size_t x = 0; x < 4; x++) {
            uint32_t a0 = a[0][x], a1 = a[1][x], a2 = a[2][x];
            a[0][x] = a0 ^ (~a1 & a2);
            a[1][x] = rotate_left(a1 ^ (~a2 & a0), 1);
            b[x] = rotate_left(a2 ^ (~a0 & a1), 8);
        }
        for (size_t x = 0; x < 4; x++)
            a[2][x] = b[(x + 2) % 4];
    }

    for (size_t i = 0; i < XOODYAK_STATE_BYTES; i++)
        state[i] = (uint8_t)(a[i / 16][i / 4 % 4] >> (8 * (i % 4)));
    crypto_wipe(a, sizeof a);
    crypto_wipe(b, sizeof b);
    crypto_wipe(p, sizeof p);
}

#include "aead/xoodyak/xoodyak-cyclist.h"
