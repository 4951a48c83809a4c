/* A multiple of a point with little code and stack: a ladder over two points with one z between
   them (Goundar, Joye, Miyaji, Rivain, Venelli, "Scalar multiplication on Weierstrass elliptic
   curves from co-Z arithmetic", 2011, algorithms 9 and 14), without a table. For a curve y^2 = x^3
   - 3x + b whose order has as many bits as ORDER_BYTES holds. The including file is curve/prime.h,
   with the field of curve/weierstrass.h.

   Time and addresses do not depend on scalars. */
#ifndef CURVE_LADDER_H
#define CURVE_LADDER_H

#if CURVE_A_IS_ZERO || SCALAR_BITS != 8 * ORDER_BYTES || ORDER_WORD_BITS != 32
#error "not a curve for this ladder"
#endif

typedef struct {
    fe x, y;
} affine_point;

/* (X, Y, Z) stands for (X / Z^2, Y / Z^3). */
typedef struct {
    fe x, y, z;
} point;

typedef struct {
    affine_point p, q;
    fe z; /* of both */
} point_pair;

static void fe_copy(fe out, const fe a) {
    for (unsigned i = 0; i < FE_WORDS; i++)
        out[i] = a[i];
}

/* Exchanges a and b if the mask is all ones. */
static void words_exchange(fe_word *a, fe_word *b, fe_word mask, unsigned words) {
    for (unsigned i = 0; i < words; i++) {
        fe_word t = (a[i] ^ b[i]) & mask;
        a[i] ^= t;
        b[i] ^= t;
    }
}

/* The third point of a chord: x = slope^2 - w.x - x2, y = slope (w.x - x) - w.y; out may be w. */
CRYPTO_NOT_INLINE static void chord(affine_point *out, const fe slope, const affine_point *w,
                                    const fe x2) {
    fe x, t;
    fe_square(x, slope);
    fe_subtract(x, x, w->x);
    fe_subtract(x, x, x2);
    fe_subtract(t, w->x, x);
    fe_multiply(t, t, slope);
    fe_subtract(out->y, t, w->y);
    fe_copy(out->x, x);
}

/* p becomes p + q and q, as it is under the new z, what p was (ZADDU) or, as conjugate, p - q
   (ZADDC). */
CRYPTO_NOT_INLINE static void pair_add(point_pair *r, int conjugate) {
    fe t, minus, plus;
    fe_subtract(t, r->p.x, r->q.x);
    fe_multiply(r->z, r->z, t);
    fe_square(t, t);
    fe_multiply(r->p.x, r->p.x, t);
    fe_multiply(t, r->q.x, t);
    fe_subtract(minus, r->p.y, r->q.y);
    fe_add(plus, r->p.y, r->q.y);
    fe_subtract(r->q.x, r->p.x, t);
    fe_multiply(r->p.y, r->p.y, r->q.x);
    if (conjugate)
        chord(&r->q, plus, &r->p, t);
    else
        r->q = r->p;
    chord(&r->p, minus, &r->p, t);
}

/* p = 2 g, q = g, for a g whose z is 1. */
static void pair_begin(point_pair *r, const point *g) {
    fe slope;
    fe_square(slope, g->x);
    fe_subtract(slope, slope, fe_one);
    fe_add(r->z, slope, slope);
    fe_add(slope, slope, r->z); /* 3 x^2 - 3 */
    fe_add(r->z, g->y, g->y);
    fe_square(r->p.y, r->z);
    fe_multiply(r->q.x, g->x, r->p.y); /* 4 x y^2 */
    fe_multiply(r->q.y, g->y, r->z);
    fe_multiply(r->q.y, r->q.y, r->p.y); /* 8 y^4 */
    chord(&r->p, slope, &r->q, r->q.x);
}

/* k p, or k times the generator if p is null; 0 < k < order, and z of p is 1. out may be p.

   Takes the even one of k and order - k, and adds the order once or twice, so that 2^256 is its
   highest bit. At each bit, p and q are the multiples by m and m + 1 in some order, where m is the
   bits so far, and become those by 2 m (or 2 m + 2) and 2 m + 1. Points are equal or infinity on
   the way only if m, m + 1 or 2 m + 1 is a multiple of the order before the last bit: for an even k
   that is the case for order - 1 alone, whose multiple is -p, and z is 0 from there on. */
CRYPTO_NOT_INLINE static void point_times(point *out, const scalar k, const point *p) {
    static const fe zero;
    point_pair r;
    order_fe bits, other;
    if (p == NULL)
        p = (const point *)generator_form;
    order_words(bits, k);
    order_subtract(other, zero, bits);
    fe_word odd = crypto_mask32(bits[0] & 1), more = ~(fe_word)0;
    words_exchange(bits, other, odd, ORDER_BYTES / ORDER_WORD_BYTES);
    for (unsigned n = 0; n < 2; n++) {
        uint64_t sum = 0;
        for (unsigned i = 0; i < ORDER_BYTES / ORDER_WORD_BYTES; i++) {
            sum += (uint64_t)bits[i] + (order_modulus[i] & more);
            bits[i] = (uint32_t)sum;
            sum >>= 32;
        }
        more = ~crypto_mask32((unsigned)sum);
    }
    pair_begin(&r, p);
    /* p is the multiple by m + 1, and to be doubled where the bit is 1. */
    fe_word exchanged = 0;
    for (unsigned i = SCALAR_BITS; i-- > 0;) {
        fe_word is_0 = ~crypto_mask32(bits[i / ORDER_WORD_BITS] >> i % ORDER_WORD_BITS & 1);
        words_exchange(r.p.x, r.q.x, exchanged ^ is_0, 2 * FE_WORDS);
        exchanged = is_0;
        pair_add(&r, 1);
        pair_add(&r, 0);
    }
    words_exchange(r.p.x, r.q.x, ~exchanged, 2 * FE_WORDS);
    fe_word is_last = fe_is_zero(r.z);
    fe_subtract(r.q.y, zero, p->y);
    fe_copy(r.q.x, p->x);
    words_exchange(r.p.x, r.q.x, is_last, 2 * FE_WORDS);
    fe_copy(r.q.x, fe_one);
    words_exchange(r.z, r.q.x, is_last, FE_WORDS);
    fe_subtract(r.q.y, zero, r.p.y);
    words_exchange(r.p.y, r.q.y, odd, FE_WORDS);
    fe_copy(out->x, r.p.x);
    fe_copy(out->y, r.p.y);
    fe_copy(out->z, r.z);
    crypto_wipe(&r, sizeof r);
    crypto_wipe(bits, sizeof bits);
    crypto_wipe(other, sizeof other);
}

#endif
