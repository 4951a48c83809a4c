#include "sha1-body.h"

static uint32_t rotate_left(uint32_t x, unsigned n) {
    return x << n | x >> (32 - n);
}

static uint32_t load(const uint8_t *in) {
    return (uint32_t)in[0] << 24 | (uint32_t)in[1] << 16 | (uint32_t)in[2] << 8 | in[3];
}

/* FIPS 180-4, section 6.1.3: the message schedule in 16 words. */
void sha1_compress(uint32_t h[5], const uint8_t *block) {
    uint32_t w[16];
    for (unsigned t = 0; t < 16; t++)
        w[t] = load(block + 4 * t);

    uint32_t a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];
    for (unsigned t = 0; t < 80; t++) {
        if (t >= 16)
            w[t & 15] =
                rotate_left(w[(t - 3) & 15] ^ w[(t - 8) & 15] ^ w[(t - 14) & 15] ^ w[t & 15], 1);
        uint32_t f, k;
        if (t < 20) {
            f = (b & c) ^ (~b & d);
            k = 0x5a827999;
        } else if (t < 40) {
            f = b ^ c ^ d;
            k = 0x6ed9eba1;
        } else if (t < 60) {
            f = (b & c) ^ (b & d) ^ (c & d);
            k = 0x8f1bbcdc;
        } else {
            f = b ^ c ^ d;
            k = 0xca62c1d6;
        }
        uint32_t next = rotate_left(a, 5) + f + e + k + w[t & 15];
        e = d;
        d = c;
        c = rotate_left(b, 30);
        b = a;
        a = next;
    }
    h[0] += a;
    h[1] += b;
    h[2] += c;
    h[3] += d;
    h[4] += e;
    crypto_wipe(w, sizeof w);
}
