/* What ARMv7E-M's DSP instructions do better than the portable code of mlkem-body.h, which includes
   it in place of that: two coefficients a register, read where they lie packed by unaligned loads.
 */

/* Returns two sums of bits, each less the one above it. */
static inline two differences(uint32_t sums, unsigned shift, uint32_t mask, unsigned distance) {
    return minus(sums >> shift & mask, sums >> (shift + distance) & mask);
}

/* Adds noise (algorithm 8) of the stream. */
static void add_noise(int16_t *coefficients, keccak_sponge *s, unsigned eta) {
    uint8_t bytes[24 + 1];
    two *p = (two *)coefficients;
    if (eta == 2) {
        for (unsigned i = 0; i < N; i += 16) {
            keccak_squeeze(s, bytes, 1);
            for (unsigned j = 0; j < 8; j += 4, p += 4) {
                uint32_t bits = crypto_load_word(bytes + j), t = bits >> 1 & 0x55555555;
                uint32_t sums = (bits & 0x55555555) + t;
                /* Coefficients i and i + 4 are 16 bits apart. */
                two d[4];
                for (unsigned k = 0; k < 4; k++)
                    d[k] = differences(sums, 4 * k, 0x00030003, 2);
                p[0] = plus(p[0], lower_halves(d[0], d[1]));
                p[1] = plus(p[1], lower_halves(d[2], d[3]));
                p[2] = plus(p[2], upper_halves(d[0], d[1]));
                p[3] = plus(p[3], upper_halves(d[2], d[3]));
            }
        }
    } else {
        for (unsigned i = 0; i < N; i += 32) {
            keccak_squeeze(s, bytes, 3);
            for (unsigned j = 0; j < 24; j += 3, p += 2) {
                uint32_t bits = crypto_load_word(bytes + j), t = bits >> 1 & 0x249249;
                uint32_t sums = (bits & 0x249249) + t + (bits >> 2 & 0x249249);
                for (unsigned k = 0; k < 2; k++, sums >>= 12) {
                    /* Coefficients are 6 bits apart. */
                    two both = (sums & 0x3f) | (sums & 0xfc0) << 10;
                    p[k] = plus(p[k], differences(both, 0, 0x00070007, 3));
                }
            }
        }
    }
    crypto_wipe(bytes, sizeof bytes);
}

/* Returns two packed coefficients; the byte that follows them is read, too. */
static inline two unpack_two(const uint8_t *b) {
    uint32_t word = crypto_load_word(b);
    two both;
    __asm__("pkhbt %0, %1, %1, lsl #4" : "=r"(both) : "r"(word));
    return both & 0x0fff0fff;
}

/* Adds the product of a0 + a1 X and b0 + b1 X, divided by R (algorithm 12), where X^2 is the stored
   root. 0 <= a, b < q. */
static inline void add_pair(two *p, two a, two b, uint32_t root) {
    int32_t c0, c1, t, u;
    __asm__("smulwt %2, %5, %4\n\t"     /* a1 X^2, by Plantard */
            "smulbb %0, %4, %6\n\t"     /* a0 b0 */
            "smlabb %2, %2, %7, %8\n\t" /* now in the upper half */
            "smuadx %1, %4, %6\n\t"     /* a0 b1 + a1 b0 */
            "smlatt %0, %2, %6, %0\n\t" /* + a1 X^2 b1 */
            "smulbb %3, %1, %9\n\t"     /* both by Montgomery: -1 / q mod R = 3327 */
            "smulbb %2, %0, %9\n\t"
            "smlabb %1, %3, %7, %1\n\t"
            "smlabb %0, %2, %7, %0\n\t"
            "pkhtb %1, %1, %0, asr #16"
            : "=&r"(c0), "=&r"(c1), "=&r"(t), "=&r"(u)
            : "r"(a), "r"(root), "r"(b), "r"(Q), "r"(8 * Q), "r"(3327));
    *p = plus(*p, (two)c1);
}

/* Adds products of pairs, two for each root. */
CRYPTO_NOT_INLINE static void add_pairs(two *p, const two *a, const uint8_t *packed,
                                        const uint32_t *root, const uint32_t *end) {
    for (; root < end; a += 2, p += 2, packed += 6) {
        uint32_t w = *root++;
        add_pair(p, a[0], unpack_two(packed), w);
        add_pair(p + 1, a[1], unpack_two(packed + 3), 0 - w);
    }
}

/* Adds the product of an entry of the matrix (algorithm 7, whose last input bytes are first and
   second) and a packed polynomial. Only the packed one is secret. */
static void add_matrix_product(int16_t *p, keccak_sponge *s, const uint8_t *rho, unsigned first,
                               unsigned second, const uint8_t *packed) {
    uint8_t bytes[24 + 1];
    two pairs[20]; /* up to 23 coefficients, 16 new ones, and one that was rejected */
    uint16_t *accepted = (uint16_t *)(void *)pairs, *at = accepted;
    const uint32_t *root = stored_roots + 64;
    keccak_start(s, RATE_128);
    keccak_absorb(s, rho, HASH_LANES);
    keccak_finish(s, (uint8_t)first, (uint8_t)second, 2, KECCAK_SHAKE);
    for (;;) {
        keccak_squeeze(s, bytes, 3);
#pragma GCC unroll 1
        for (const uint8_t *b = bytes; b < bytes + 24; b += 3) {
            two both = unpack_two(b);
            uint32_t low = both & 0xffff, high = both >> 16;
            *at = (uint16_t)low;
            at += low < Q;
            *at = (uint16_t)high;
            at += high < Q;
        }
        unsigned roots_more = (unsigned)(at - accepted) / 4;
        unsigned roots_left = (unsigned)(stored_roots + 128 - root);
        if (roots_more >= roots_left)
            roots_more = roots_left;
        else if (roots_more < 6)
            continue;
        add_pairs((two *)p, pairs, packed, root, root + roots_more);
        root += roots_more, packed += 6 * roots_more, p += 4 * roots_more;
        if (roots_more == roots_left)
            return;
        pairs[0] = pairs[2 * roots_more];
        pairs[1] = pairs[2 * roots_more + 1];
        at -= 4 * roots_more;
    }
}

/* Adds the product of two packed polynomials. Returns bits whose highest is set if a coefficient of
   the first is not below q. */
CRYPTO_NOT_INLINE static unsigned add_packed_product(int16_t *coefficients, const uint8_t *a,
                                                     const uint8_t *b) {
    two high = 0, *p = (two *)coefficients;
    const two most = (Q - 1) | (two)(Q - 1) << 16;
    for (const uint32_t *root = stored_roots + 64; root < stored_roots + 128; a += 6, b += 6) {
        uint32_t w = *root++;
        two a0 = unpack_two(a), a1 = unpack_two(a + 3);
        high |= minus(most, a0) | minus(most, a1);
        add_pair(p++, a0, unpack_two(b), w);
        add_pair(p++, a1, unpack_two(b + 3), 0 - w);
    }
    return high | high << 16;
}

typedef uint16_t __attribute__((may_alias, aligned(1))) halfword;

/* Packs a polynomial (algorithm 5 with d = 12). */
CRYPTO_NOT_INLINE static void pack(uint8_t *to, const int16_t *coefficients) {
    const two q = Q | (two)Q << 16;
    for (const two *p = (const two *)coefficients, *end = p + N / 2; p < end; p++, to += 3) {
        two a = times(*p, TIMES_1), negative;
        __asm__("sadd16 %0, %1, %2\n\tsel %0, %2, %3" /* GE is set where a >= 0 */
                : "=&r"(negative)
                : "r"(a), "r"(0), "r"(q)
                : "cc");
        a = plus(a, negative);
        uint32_t packed = (a & 0xfff) | (a >> 16) << 12;
        *(halfword *)(void *)to = (uint16_t)packed;
        to[2] = (uint8_t)(packed >> 16);
    }
}
