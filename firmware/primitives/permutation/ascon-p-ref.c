/* The Ascon permutation in portable C; see ascon-p.h. */
#include "ascon-p.h"

static uint64_t rotate_right(uint64_t x, unsigned n) {
    return x >> n | x << (64 - n);
}

void ascon_p(ascon_state *s, unsigned rounds) {
    uint64_t x0 = s->x[0], x1 = s->x[1], x2 = s->x[2], x3 = s->x[3], x4 = s->x[4];

    for (unsigned i = 12 - rounds; i < 12; i++) {
        /* pC: the constants are f0, e1, d2, ..., 4b (SP 800-232, table 5). */
        x2 ^= (uint8_t)(0xf0u - 0x0fu * i);

        /* pS, in the bitsliced form of figure 3. */
        x0 ^= x4;
        x4 ^= x3;
        x2 ^= x1;
        uint64_t t0 = ~x0 & x1, t1 = ~x1 & x2, t2 = ~x2 & x3, t3 = ~x3 & x4, t4 = ~x4 & x0;
        x0 ^= t1;
        x1 ^= t2;
        x2 ^= t3;
        x3 ^= t4;
        x4 ^= t0;
        x1 ^= x0;
        x0 ^= x4;
        x3 ^= x2;
        x2 = ~x2;

        /* pL */
        x0 ^= rotate_right(x0, 19) ^ rotate_right(x0, 28);
        x1 ^= rotate_right(x1, 61) ^ rotate_right(x1, 39);
        x2 ^= rotate_right(x2, 1) ^ rotate_right(x2, 6);
        x3 ^= rotate_right(x3, 10) ^ rotate_right(x3, 17);
        x4 ^= rotate_right(x4, 7) ^ rotate_right(x4, 41);
    }

    s->x[0] = x0;
    s->x[1] = x1;
    s->x[2] = x2;
    s->x[3] = x3;
    s->x[4] = x4;
}
