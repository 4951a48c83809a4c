#include "siphash-body.h"

static uint64_t rotate_left(uint64_t x, unsigned n) {
    return x << n | x >> (64 - n);
}

/* SipRound, figure 2.1 of the paper. */
static void sip_rounds(uint64_t v[4], unsigned rounds) {
    uint64_t v0 = v[0], v1 = v[1], v2 = v[2], v3 = v[3];
    for (; rounds > 0; rounds--) {
        v0 = crypto_add64(v0, v1);
        v2 = crypto_add64(v2, v3);
        v1 = rotate_left(v1, 13) ^ v0;
        v3 = rotate_left(v3, 16) ^ v2;
        v0 = rotate_left(v0, 32);
        v2 = crypto_add64(v2, v1);
        v0 = crypto_add64(v0, v3);
        v1 = rotate_left(v1, 17) ^ v2;
        v3 = rotate_left(v3, 21) ^ v0;
        v2 = rotate_left(v2, 32);
    }
    v[0] = v0;
    v[1] = v1;
    v[2] = v2;
    v[3] = v3;
}

void siphash_compress(uint64_t v[4], const uint8_t *data, size_t blocks) {
    for (; blocks > 0; blocks--, data += 8) {
        uint64_t m = load(data);
        v[3] ^= m;
        sip_rounds(v, 2);
        v[0] ^= m;
    }
}
