/* The number-theoretic transform for cores that multiply 32 bits by 32 to 32 in one cycle. Include
   it after "kem/ml-kem/mlkem-arithmetic.h".

   Products with constants by improved Plantard arithmetic (J. Huang et al., TCHES 2022(4)): b is
   stored as (-2^32 b mod q) / q mod 2^32, and then a b mod q takes two multiplications, whatever
   |a| < 2^17, without a multiplication of 64 bits. Two layers at a time stay in registers. */
#ifndef MLKEM_TRANSFORM_32_H
#define MLKEM_TRANSFORM_32_H

#include "mlkem-arithmetic.h"

/* Constants so stored: 1, R, 1 / R, R / 128. */
#define TIMES_1 0x0013afb8u
#define TIMES_R 0xafb7680cu
#define BY_R 0x0cff0014u
#define TIMES_R_BY_128 0x275f6ed1u
#define TIMES_ROOT_1_R_BY_128 0xeb8b6b6eu

/* 17^BitRev7(i) so stored. */
static const uint32_t stored_roots[128] = {
    0x0013afb8, 0x84f5c5b6, 0xc666e465, 0xfcec8b58, 0xcb2b72d0, 0x30726d5b, 0x91e11612, 0x41360f89,
    0x51aaf2da, 0x93922fd5, 0x0ed77946, 0x3d4a0dff, 0xd63e49fb, 0xfab1a391, 0x2bc18ea7, 0x864470e4,
    0x16c32c11, 0xbc2c9a1c, 0x66f8144e, 0x71811d74, 0xea3cc040, 0x044e701f, 0xac4184cf, 0x6681f601,
    0x6da8cba2, 0xa1074e36, 0x2924384b, 0xdda02ec2, 0xb805896c, 0xdd651f9c, 0x97ccf03d, 0x3f228731,
    0x16395e0d, 0x19743224, 0xfa27d58e, 0x87094e0e, 0x5c0c9c92, 0xb12d72a9, 0xaf19ea51, 0x9e078945,
    0x31fc27af, 0x9807ff63, 0xc13fe765, 0x3099ccc9, 0xdc518394, 0x0289a6a5, 0x658209b1, 0x934370f8,
    0xb254be68, 0x6e59f915, 0x3e0eeb29, 0x22c23fd4, 0x6e95083b, 0xdc8c92ba, 0x75f6ed02, 0xb8b6b6df,
    0xcb8de165, 0xc93f49e7, 0x71e38c09, 0x31d4c840, 0xbe402274, 0xef28ae1a, 0x5e5b3410, 0x45fa9df4,
    0x014eab2e, 0xd4522112, 0x2cd52aae, 0xcbb540d4, 0x7de29fcd, 0x379942fb, 0xaff27732, 0x54970814,
    0x6c5a2074, 0xccb52d24, 0xfc4f0d9d, 0x11eaedee, 0x3a22e9a0, 0xa5cbdca1, 0xe7da790b, 0xea8b7f1e,
    0x82f5ed16, 0x7ef63bd5, 0xd6795921, 0x8992f4b3, 0x8e08c440, 0x4935720b, 0x7059d1b5, 0xcea1560e,
    0x483585bb, 0xb17c3187, 0xbb67bcf2, 0xb7a31ad7, 0x385e2025, 0xb3b7194d, 0x149bf401, 0x314afa3c,
    0x79cf3ed4, 0xb0b7545c, 0x9ca52e5f, 0xf79e2ee9, 0x1cd665aa, 0xc4049d2f, 0xa0b88f58, 0x7e801d88,
    0x51bea292, 0x1887f58b, 0xd53e5dab, 0x3a369957, 0xa169bccb, 0x2b2410ec, 0xbda2a4b9, 0xc77a806d,
    0xd7a0a4e0, 0x53f98a58, 0x1efd9db9, 0x4ee63d0f, 0x57e58be2, 0xa555be54, 0xd565bd19, 0x442224c3,
    0x846bf7b2, 0x5d33e851, 0x901c4c98, 0x4f214c36, 0xa24249ac, 0xe1b38fba, 0x440e750b, 0xa5a47d32,
};

/* Returns a b mod q between -q/2 and q/2. */
static inline int32_t times(int32_t a, uint32_t b) {
    int32_t t = (int32_t)((uint32_t)a * b) >> 16;
    return (t + 8) * Q >> 16;
}

static void scale_by(int16_t *p, uint32_t f) {
    for (unsigned i = 0; i < 256; i++)
        p[i] = (int16_t)times(p[i], f);
}

/* Multiplies all coefficients by 1 / R or R. */
static void scale(int16_t *p, int16_t f) {
    scale_by(p, f == 1 ? BY_R : TIMES_R);
}

/* Two layers of the NTT; inlined, so that distances are constants. */
__attribute__((always_inline)) static inline void two_layers(int16_t *p, unsigned length) {
    const uint32_t *root = stored_roots + 64 / length;
    const uint32_t *roots = stored_roots + 128 / length;
    for (int16_t *all = p + 256; p < all; p += 3 * length, roots += 2) {
        uint32_t w1 = *root++, w2 = roots[0], w3 = roots[1];
        for (int16_t *end = p + length; p < end; p++) {
            int32_t a0 = p[0], a1 = p[length];
            int32_t t2 = times(p[2 * length], w1), t3 = times(p[3 * length], w1);
            int32_t a2 = a0 - t2, a3 = a1 - t3;
            a0 += t2, a1 += t3;
            int32_t t1 = times(a1, w2);
            t3 = times(a3, w3);
            p[0] = (int16_t)(a0 + t1);
            p[length] = (int16_t)(a0 - t1);
            p[2 * length] = (int16_t)(a2 + t3);
            p[3 * length] = (int16_t)(a2 - t3);
        }
    }
}

/* NTT (FIPS 203, algorithm 9). Each layer adds at most q/2 to a coefficient: |input| < q, |output|
   < 5 q. */
static void transform(int16_t *p) {
    two_layers(p, 64);
    two_layers(p, 16);
    two_layers(p, 4);
    for (unsigned i = 64; i < 128; i++, p += 4) {
        int32_t a0 = p[0], a1 = p[1];
        int32_t t0 = times(p[2], stored_roots[i]), t1 = times(p[3], stored_roots[i]);
        p[0] = (int16_t)(a0 + t0), p[1] = (int16_t)(a1 + t1);
        p[2] = (int16_t)(a0 - t0), p[3] = (int16_t)(a1 - t1);
    }
}

/* Two layers of the inverse NTT; inlined as above. Sums of sums are reduced if reduce is not 0. */
__attribute__((always_inline)) static inline void two_layers_back(int16_t *p, unsigned length,
                                                                  int reduce) {
    const uint32_t *root = stored_roots + 128 / length, *roots = stored_roots + 256 / length;
    for (int16_t *all = p + 256; p < all; p += 3 * length) {
        uint32_t w1 = *--roots, w2 = *--roots, w3 = *--root;
        for (int16_t *end = p + length; p < end; p++) {
            int32_t a0 = p[0], a1 = p[length], a2 = p[2 * length], a3 = p[3 * length];
            int32_t s0 = a0 + a1, s2 = a2 + a3;
            int32_t d1 = times(a1 - a0, w1), d3 = times(a3 - a2, w2);
            p[0] = (int16_t)(reduce ? times(s0 + s2, TIMES_1) : s0 + s2);
            p[length] = (int16_t)(d1 + d3);
            p[2 * length] = (int16_t)times(s2 - s0, w3);
            p[3 * length] = (int16_t)times(d3 - d1, w3);
        }
    }
}

/* Inverse NTT (algorithm 10) of coefficients divided by R, |input| < 5 q / 2, |output| <= q / 2. A
   sum doubles at most, other results are products: two layers give less than 2^15 from the input;
   two more, with the sums of sums reduced, at most q; and two more 4 q. */
static void transform_back(int16_t *p) {
    two_layers_back(p, 2, 0);
    two_layers_back(p, 8, 1);
    two_layers_back(p, 32, 0);
    for (int16_t *end = p + 128; p < end; p++) {
        int32_t low = p[0], high = p[128];
        p[0] = (int16_t)times(low + high, TIMES_R_BY_128);
        p[128] = (int16_t)times(high - low, TIMES_ROOT_1_R_BY_128);
    }
}

#endif
