/* Keccak-p[400] as in FIPS 202, section 3.2, with lanes of 16 bits. */
#include "ketje.h"

static uint16_t rotate_left(uint16_t a, unsigned n) {
    return (uint16_t)((unsigned)a << n | (unsigned)a >> (16 - n) % 16);
}

typedef struct {
    uint8_t bytes[50];
} keccak_state;

static uint8_t *keccak_bytes(keccak_state *s) {
    return s->bytes;
}

static void keccak_p400(keccak_state *s, unsigned rounds) {
    /* Offsets of rho modulo the lane length (table 2), at 5y + x. */
    static const uint8_t offset[25] = {0, 1, 14, 12, 11, 4, 12, 6, 7, 4,  3, 10, 11,
                                       9, 7, 9,  13, 15, 5, 8,  2, 2, 13, 8, 14};
    /* RC[i] of iota, truncated to 16 bits (algorithm 5), for the 20 rounds of Keccak-f[400]. */
    static const uint16_t constant[20] = {0x0001, 0x8082, 0x808a, 0x8000, 0x808b, 0x0001, 0x8081,
                                          0x8009, 0x008a, 0x0088, 0x8009, 0x000a, 0x808b, 0x008b,
                                          0x8089, 0x8003, 0x8002, 0x0080, 0x800a, 0x000a};
    uint16_t a[25], b[25], c[5];

    for (size_t i = 0; i < 25; i++)
        a[i] = (uint16_t)(s->bytes[2 * i] | (unsigned)s->bytes[2 * i + 1] << 8);

    for (unsigned round = 20 - rounds; round < 20; round++) {
        for (size_t x = 0; x < 5; x++)
            c[x] = a[x] ^ a[5 + x] ^ a[10 + x] ^ a[15 + x] ^ a[20 + x];
        for (size_t x = 0; x < 5; x++) {
            uint16_t d = c[(x + 4) % 5] ^ rotate_left(c[(x + 1) % 5], 1);
            for (size_t y = 0; y < 25; y += 5)
                a[y + x] ^= d;
        }
        for (size_t y = 0; y < 5; y++) {
            for (size_t x = 0; x < 5; x++)
                b[5 * ((2 * x + 3 * y) % 5) + y] = rotate_left(a[5 * y + x], offset[5 * y + x]);
        }
        for (size_t y = 0; y < 25; y += 5) {
            for (size_t x = 0; x < 5; x++)
                a[y + x] = b[y + x] ^ (uint16_t)(~b[y + (x + 1) % 5] & b[y + (x + 2) % 5]);
        }
        a[0] ^= constant[round];
    }

    for (size_t i = 0; i < 25; i++) {
        s->bytes[2 * i] = (uint8_t)a[i];
        s->bytes[2 * i + 1] = (uint8_t)(a[i] >> 8);
    }
    crypto_wipe(a, sizeof a);
    crypto_wipe(b, sizeof b);
    crypto_wipe(c, sizeof c);
}

#include "aead/ketje/ketje-body.h"
