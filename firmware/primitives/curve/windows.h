/* secp160r1 by the methods of TinyECC (A. Liu, P. Ning, "TinyECC: A Configurable Library for
   Elliptic Curve Cryptography in Wireless Sensor Networks", IPSN 2008, section 3), which made
   elliptic curves common on motes: hybrid multiplication, a reduction specific to the prime,
   Jacobian coordinates with mixed addition, windows of four bits over affine multiples, Shamir's
   trick for verification, inversion by Euclid's algorithm. It replaces curve/prime.h: the including
   file has included curve/secp160r1-constants.h and defined FE_WORD_BITS and ORDER_WORD_BITS.

   Time, addresses and branches depend on all inputs: it is here to be measured beside constant-time
   code. Arithmetic modulo the order is that of the other implementations. The multiples of the
   generator, which TinyECC computes once at start-up, are computed for each multiplication. */
#ifndef CURVE_WINDOWS_H
#define CURVE_WINDOWS_H

#include "curve/scalar.h"

#define MODULAR(name) field_##name
#define MODULAR_BYTES FIELD_BYTES
#define MODULAR_MODULUS FIELD_MODULUS
#define MODULAR_INVERSE FIELD_INVERSE
#define MODULAR_R2 FIELD_R2
#define MODULAR_WORD_BITS FE_WORD_BITS
#include "field/montgomery.h"

#if FE_WORD_BITS == 32
typedef uint32_t fe_word;
typedef uint64_t fe_pair;
#define W(x) MODULAR_WORDS_32(x)
#else
typedef uint16_t fe_word;
typedef uint32_t fe_pair;
#define W(x) MODULAR_WORDS_16(x)
#endif

enum {
    WORDS = FIELD_BYTES / sizeof(fe_word),
    BLOCK = 5, /* words in a row of the hybrid multiplication */
    WINDOW = 4,
    MULTIPLES = (1 << WINDOW) - 1
};

typedef field_fe fe;

/* In Montgomery form; `plain` converts from it. */
static const fe generator_form[3] = CURVE_GENERATOR, b_form = CURVE_B;
#undef W

typedef struct {
    fe x, y, z; /* z = 0 for infinity */
} point;

typedef struct {
    fe x, y; /* both 0 for infinity */
} affine;

static void fe_copy(fe out, const fe a) {
    for (unsigned i = 0; i < WORDS; i++)
        out[i] = a[i];
}

static void plain(fe out, const fe form) {
    static const fe one = {1};
    field_multiply(out, form, one);
}

static int fe_is_zero(const fe a) {
    fe_word any = 0;
    for (unsigned i = 0; i < WORDS; i++)
        any |= a[i];
    return any == 0;
}

static int fe_is_below(const fe a, const fe b) {
    for (unsigned i = WORDS; i-- > 0;)
        if (a[i] != b[i])
            return a[i] < b[i];
    return 0;
}

/* Adds a to out, starting at a word; the sum fits. */
static void accumulate(fe_word *out, const fe_word *a, unsigned words) {
    fe_word carry = 0;
    for (unsigned i = 0; i < words || carry; i++) {
        fe_pair sum = (fe_pair)out[i] + (i < words ? a[i] : 0) + carry;
        out[i] = (fe_word)sum;
        carry = (fe_word)(sum >> FE_WORD_BITS);
    }
}

/* p = 2^160 - 2^31 - 1: the part above 2^160 is added 2^31 + 1 times, until it is 0. */
static void reduce(fe out, const fe_word c[2 * WORDS]) {
    fe_word sum[2 * WORDS + 1] = {0}, high[WORDS], shifted[WORDS + 1];
    for (unsigned i = 0; i < 2 * WORDS; i++)
        sum[i] = c[i];
    for (;;) {
        fe_word any = 0;
        for (unsigned i = 0; i < WORDS; i++) {
            any |= high[i] = sum[WORDS + i];
            sum[WORDS + i] = 0;
        }
        if (any == 0)
            break;
        /* A shift by 31 bits is a shift by one word or two, less one bit. */
        for (unsigned i = 0; i <= WORDS; i++)
            shifted[i] = (fe_word)((i < WORDS ? (fe_word)(high[i] << (FE_WORD_BITS - 1)) : 0) |
                                   (i > 0 ? high[i - 1] >> 1 : 0));
        accumulate(sum, high, WORDS);
        accumulate(sum + 31 / FE_WORD_BITS, shifted, WORDS + 1);
    }
    fe_copy(out, sum);
    while (!fe_is_below(out, field_modulus))
        field_less(out, out, field_modulus);
}

/* Hybrid multiplication (Gura et al., "Comparing elliptic curve cryptography and RSA on 8-bit
   CPUs", 2004): columns of blocks, each of which is multiplied row by row. */
static void fe_multiply(fe out, const fe a, const fe b) {
    enum { BLOCKS = WORDS / BLOCK };
    fe_word c[2 * WORDS], sum[2 * BLOCK + 1] = {0};
    for (unsigned column = 0; column < 2 * BLOCKS; column++) {
        for (unsigned i = column < BLOCKS ? 0 : column - BLOCKS + 1; i <= column && i < BLOCKS;
             i++) {
            const fe_word *left = a + i * BLOCK, *right = b + (column - i) * BLOCK;
            for (unsigned row = 0; row < BLOCK; row++) {
                fe_word carry = 0;
                for (unsigned n = 0; n < BLOCK; n++) {
                    fe_pair t = (fe_pair)left[row] * right[n] + sum[row + n] + carry;
                    sum[row + n] = (fe_word)t;
                    carry = (fe_word)(t >> FE_WORD_BITS);
                }
                for (unsigned n = row + BLOCK; carry; n++) {
                    fe_pair t = (fe_pair)sum[n] + carry;
                    sum[n] = (fe_word)t;
                    carry = (fe_word)(t >> FE_WORD_BITS);
                }
            }
        }
        for (unsigned n = 0; n < BLOCK; n++)
            c[column * BLOCK + n] = sum[n];
        for (unsigned n = 0; n < 2 * BLOCK + 1; n++)
            sum[n] = n + BLOCK < 2 * BLOCK + 1 ? sum[n + BLOCK] : 0;
    }
    reduce(out, c);
}

static void fe_square(fe out, const fe a) {
    fe_multiply(out, a, a);
}

static void fe_add(fe out, const fe a, const fe b) {
    field_add(out, a, b);
}

static void fe_subtract(fe out, const fe a, const fe b) {
    field_subtract(out, a, b);
}

/* Formulas dbl-2001-b (Bernstein, Lange, Explicit-Formulas Database). */
static void point_double(point *p) {
    fe delta, gamma, beta, alpha, t;
    fe_square(delta, p->z);
    fe_square(gamma, p->y);
    fe_multiply(beta, p->x, gamma);
    fe_subtract(t, p->x, delta);
    fe_add(alpha, p->x, delta);
    fe_multiply(t, alpha, t);
    fe_add(alpha, t, t);
    fe_add(alpha, alpha, t);
    fe_multiply(t, p->y, p->z);
    fe_add(p->z, t, t);
    fe_add(beta, beta, beta);
    fe_add(beta, beta, beta);
    fe_square(t, alpha);
    fe_subtract(t, t, beta);
    fe_subtract(p->x, t, beta);
    fe_square(gamma, gamma);
    for (unsigned i = 0; i < 3; i++)
        fe_add(gamma, gamma, gamma);
    fe_subtract(t, beta, p->x);
    fe_multiply(t, alpha, t);
    fe_subtract(p->y, t, gamma);
}

/* p += q, for any points. */
static void point_add(point *p, const affine *q) {
    fe h, r, t, v;
    if (fe_is_zero(q->x) && fe_is_zero(q->y))
        return;
    if (fe_is_zero(p->z)) {
        fe_copy(p->x, q->x);
        fe_copy(p->y, q->y);
        fe_copy(p->z, (const fe){1});
        return;
    }
    fe_square(t, p->z);
    fe_multiply(h, q->x, t);
    fe_multiply(t, t, p->z);
    fe_multiply(r, q->y, t);
    fe_subtract(h, h, p->x);
    fe_subtract(r, r, p->y);
    if (fe_is_zero(h) && fe_is_zero(r)) {
        point_double(p);
        return;
    }
    fe_multiply(p->z, p->z, h); /* 0 where p = -q */
    fe_square(t, h);
    fe_multiply(v, p->x, t);
    fe_multiply(h, h, t);
    fe_multiply(t, p->y, h);
    fe_square(p->x, r);
    fe_subtract(p->x, p->x, h);
    fe_subtract(p->x, p->x, v);
    fe_subtract(p->x, p->x, v);
    fe_subtract(v, v, p->x);
    fe_multiply(v, v, r);
    fe_subtract(p->y, v, t);
}

/* Converts points to z = 1 with one inversion (Montgomery, "Speeding the Pollard and elliptic curve
   methods of factorization", 1987). */
static void points_affine(affine *out, const point *points, unsigned count) {
    fe products[MULTIPLES + 1] = {{1}}, inverse, t, square;
    for (unsigned i = 0; i < count; i++)
        if (fe_is_zero(points[i].z))
            fe_copy(products[i + 1], products[i]);
        else
            fe_multiply(products[i + 1], products[i], points[i].z);
    field_invert_public(inverse, products[count]);
    for (unsigned i = count; i-- > 0;) {
        out[i] = (affine){.x = {0}};
        if (fe_is_zero(points[i].z))
            continue;
        fe_multiply(t, inverse, products[i]);
        fe_multiply(inverse, inverse, points[i].z);
        fe_square(square, t);
        fe_multiply(out[i].x, points[i].x, square);
        fe_multiply(square, square, t);
        fe_multiply(out[i].y, points[i].y, square);
    }
}

static void generator(affine *out) {
    plain(out->x, generator_form[0]);
    plain(out->y, generator_form[1]);
}

static unsigned bits_of(const scalar k, unsigned bit, unsigned count) {
    unsigned high = bit / 8 + 1 < SCALAR_BYTES ? k[bit / 8 + 1] : 0;
    return (k[bit / 8] | high << 8) >> bit % 8 & ((1u << count) - 1);
}

/* k p, or k times the generator if p is null; windows that are 0 are skipped. */
static void point_times(point *out, const scalar k, const point *p) {
    point multiples[MULTIPLES];
    affine table[MULTIPLES], base;
    if (p)
        points_affine(&base, p, 1);
    else
        generator(&base);
    multiples[0] = (point){.z = {0}};
    point_add(&multiples[0], &base);
    for (unsigned i = 1; i < MULTIPLES; i++) {
        multiples[i] = multiples[i - 1];
        point_add(&multiples[i], &base);
    }
    points_affine(table, multiples, MULTIPLES);
    *out = (point){.z = {0}};
    for (unsigned bit = (SCALAR_BITS + WINDOW - 1) / WINDOW * WINDOW; bit > 0;) {
        bit -= WINDOW;
        for (unsigned i = 0; i < WINDOW; i++)
            point_double(out);
        unsigned digit = bits_of(k, bit, WINDOW);
        if (digit)
            point_add(out, &table[digit - 1]);
    }
}

static void fe_to_bytes(uint8_t out[FIELD_BYTES], const fe a) {
    for (unsigned i = 0; i < FIELD_BYTES; i++)
        out[FIELD_BYTES - 1 - i] = (uint8_t)(a[i / sizeof(fe_word)] >> i % sizeof(fe_word) * 8);
}

static void point_to_bytes(uint8_t x[FIELD_BYTES], uint8_t *y, const point *p) {
    affine q;
    points_affine(&q, p, 1);
    fe_to_bytes(x, q.x);
    if (y)
        fe_to_bytes(y, q.y);
}

static int fe_from_bytes(fe out, const uint8_t in[FIELD_BYTES]) {
    for (unsigned i = 0; i < WORDS; i++) {
        out[i] = 0;
        for (unsigned n = 0; n < sizeof(fe_word); n++)
            out[i] |= (fe_word)((fe_word)in[FIELD_BYTES - 1 - i * sizeof(fe_word) - n] << 8 * n);
    }
    return fe_is_below(out, field_modulus);
}

/* Reads a public key's point, X and Y; returns 0 if it is not on the curve. */
static int point_from_bytes(point *out, const uint8_t in[2 * FIELD_BYTES]) {
    fe t, u;
    if (!fe_from_bytes(out->x, in) || !fe_from_bytes(out->y, in + FIELD_BYTES))
        return 0;
    fe_copy(out->z, (const fe){1});
    fe_square(t, out->x);
    fe_multiply(t, t, out->x);
    fe_add(u, out->x, out->x);
    fe_add(u, u, out->x);
    fe_subtract(t, t, u);
    plain(u, b_form);
    fe_add(t, t, u);
    fe_square(u, out->y);
    fe_subtract(t, t, u);
    return fe_is_zero(t);
}

/* x of u G + v q; returns 0 if the sum is infinity. Shamir's trick: two bits of both scalars at a
   time, over all i G + j q. */
__attribute__((unused)) static int point_sum_x(uint8_t x[FIELD_BYTES], const scalar u,
                                               const scalar v, const point *q) {
    point sums[MULTIPLES];
    affine table[MULTIPLES], first, second;
    generator(&first);
    points_affine(&second, q, 1);
    for (unsigned i = 1; i <= MULTIPLES; i++) {
        /* u + 4 v is i: one u more than the previous sum, or one v more than the sum four entries
           before. */
        unsigned step = i < 4 ? 1 : 4;
        sums[i - 1] = i == step ? (point){.z = {0}} : sums[i - 1 - step];
        point_add(&sums[i - 1], i < 4 ? &first : &second);
    }
    points_affine(table, sums, MULTIPLES);
    point p = {.z = {0}};
    for (unsigned bit = (SCALAR_BITS + 1) / 2 * 2; bit > 0;) {
        bit -= 2;
        point_double(&p);
        point_double(&p);
        unsigned digit = bits_of(u, bit, 2) | bits_of(v, bit, 2) << 2;
        if (digit)
            point_add(&p, &table[digit - 1]);
    }
    if (fe_is_zero(p.z))
        return 0;
    point_to_bytes(x, NULL, &p);
    return 1;
}

/* Depth of a multiplication's stack frames. */
#define CURVE_FRAME_BYTES (2 * MULTIPLES * sizeof(point) + MULTIPLES * sizeof(fe) + 900)

#endif
