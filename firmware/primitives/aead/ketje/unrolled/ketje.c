#include "ketje.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "lanes are taken as bytes");

/* Each round reads one of the two states and writes the other; lane (x, y) is at 5y + x. */
typedef struct {
    uint16_t lanes[2][25];
    unsigned current;
} keccak_state;

static uint8_t *keccak_bytes(keccak_state *s) {
    return (uint8_t *)(s->current ? s->lanes[1] : s->lanes[0]);
}

static uint16_t rotate_left(unsigned a, unsigned n) {
    return (uint16_t)(a << n | (a & 0xffffu) >> (16 - n) % 16);
}

/* Computes a row of the result from the five lanes that pi moves there: theta, rho, chi. Column x's
   lane is at 5x + (x + shift) modulo 5; n0 to n4 are the rotations. */
#define LANE(x, shift) (5 * (x) + ((x) + (shift)) % 5)
#define FETCH(x, shift, n) rotate_left(a[LANE(x, shift)] ^ d[((x) + (shift)) % 5], n)
#define ROW(y, shift, n0, n1, n2, n3, n4)                                                          \
    do {                                                                                           \
        uint16_t b0 = FETCH(0, shift, n0), b1 = FETCH(1, shift, n1), b2 = FETCH(2, shift, n2);     \
        uint16_t b3 = FETCH(3, shift, n3), b4 = FETCH(4, shift, n4);                               \
        e[5 * (y)] = (uint16_t)(b0 ^ (~b1 & b2));                                                  \
        e[5 * (y) + 1] = (uint16_t)(b1 ^ (~b2 & b3));                                              \
        e[5 * (y) + 2] = (uint16_t)(b2 ^ (~b3 & b4));                                              \
        e[5 * (y) + 3] = (uint16_t)(b3 ^ (~b4 & b0));                                              \
        e[5 * (y) + 4] = (uint16_t)(b4 ^ (~b0 & b1));                                              \
    } while (0)

static void keccak_round(uint16_t *e, const uint16_t *a, uint16_t constant) {
    uint16_t c[5], d[5];
    for (size_t x = 0; x < 5; x++)
        c[x] = a[x] ^ a[5 + x] ^ a[10 + x] ^ a[15 + x] ^ a[20 + x];
    d[0] = c[4] ^ rotate_left(c[1], 1);
    d[1] = c[0] ^ rotate_left(c[2], 1);
    d[2] = c[1] ^ rotate_left(c[3], 1);
    d[3] = c[2] ^ rotate_left(c[4], 1);
    d[4] = c[3] ^ rotate_left(c[0], 1);
    ROW(0, 0, 0, 12, 11, 5, 14);
    e[0] ^= constant;
    ROW(1, 3, 12, 4, 3, 13, 13);
    ROW(2, 1, 1, 6, 9, 8, 2);
    ROW(3, 4, 11, 4, 10, 15, 8);
    ROW(4, 2, 14, 7, 7, 9, 2);
}

static void keccak_p400(keccak_state *s, unsigned rounds) {
    /* RC[i] of iota, truncated to 16 bits (FIPS 202, algorithm 5). */
    static const uint16_t constant[20] = {0x0001, 0x8082, 0x808a, 0x8000, 0x808b, 0x0001, 0x8081,
                                          0x8009, 0x008a, 0x0088, 0x8009, 0x000a, 0x808b, 0x008b,
                                          0x8089, 0x8003, 0x8002, 0x0080, 0x800a, 0x000a};
    for (unsigned round = 20 - rounds; round < 20; round++) {
        if (s->current)
            keccak_round(s->lanes[0], s->lanes[1], constant[round]);
        else
            keccak_round(s->lanes[1], s->lanes[0], constant[round]);
        s->current ^= 1;
    }
}

#include "aead/ketje/ketje-body.h"
