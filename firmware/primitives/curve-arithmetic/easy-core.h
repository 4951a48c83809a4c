/* Curve arithmetic as in a general library that knows a prime only by its shape, for y^2 = x^3 - 3x
   + b: the methods that shibata-2018, section III-C, selected in RELIC ("PROJC; LWNAF; COMBS",
   products by columns, ARITH=easy). Its time depends on all inputs: it is here to explain published
   numbers.

   The including file has included curve/NAME-easy-constants.h: EASY_MODULUS is 2^FIELD_BITS less
   the sum of +-2^e over EASY_TERMS = {{e, sign}, ...}. */
#include "crypto.h"

#define N (FIELD_BITS / 32)
#define SCALAR_MAX (32 * N + 1)

static const fe modulus = EASY_MODULUS;
static const fe curve_b = EASY_B;
static const fe comb[7][2] = EASY_COMB; /* i0 G + i1 2^c G + i2 2^2c G for the bits of i, i > 0 */
static const uint32_t order[N + 1] = EASY_ORDER;
static const struct {
    uint8_t exponent;
    int8_t sign;
} terms[] = EASY_TERMS;

typedef struct {
    fe x, y, z;
    uint8_t affine; /* z is 1 */
} point;

static void fe_copy(fe out, const fe a) {
    for (unsigned i = 0; i < N; i++)
        out[i] = a[i];
}

static int fe_is_zero(const fe a) {
    uint32_t any = 0;
    for (unsigned i = 0; i < N; i++)
        any |= a[i];
    return any == 0;
}

/* C has no carry flag: there is a carry where a sum is below a term. */
static uint32_t words_add(uint32_t *out, const uint32_t *a, const uint32_t *b, unsigned words) {
    uint32_t carry = 0;
    for (unsigned i = 0; i < words; i++) {
        uint32_t term = a[i], sum = term + b[i], all = sum + carry;
        carry = (sum < term) | (all < sum);
        out[i] = all;
    }
    return carry;
}

static uint32_t words_subtract(uint32_t *out, const uint32_t *a, const uint32_t *b,
                               unsigned words) {
    uint32_t borrow = 0;
    for (unsigned i = 0; i < words; i++) {
        uint32_t term = a[i], difference = term - b[i], all = difference - borrow;
        borrow = (difference > term) | (all > difference);
        out[i] = all;
    }
    return borrow;
}

static int words_below(const uint32_t *a, const uint32_t *b, unsigned words) {
    for (unsigned i = words; i-- > 0;)
        if (a[i] != b[i])
            return a[i] < b[i];
    return 0;
}

static void fe_add(fe out, const fe a, const fe b) {
    if (words_add(out, a, b, N) || !words_below(out, modulus, N))
        words_subtract(out, out, modulus, N);
}

static void fe_subtract(fe out, const fe a, const fe b) {
    if (words_subtract(out, a, b, N))
        words_add(out, out, modulus, N);
}

/* a 2^bits, in 2 N words. */
static void shifted(uint32_t out[2 * N], const uint32_t a[2 * N], unsigned bits) {
    for (unsigned i = 0; i < 2 * N; i++)
        out[i] = i < bits / 32 ? 0 : a[i - bits / 32];
    if (bits % 32)
        for (unsigned i = 2 * N; i-- > 0;)
            out[i] = out[i] << bits % 32 | (i ? out[i - 1] >> (32 - bits % 32) : 0);
}

/* c = q 2^k + r, and 2^k equals the sum of the terms: computes r + q times the terms until q is
   0. */
static void reduce(fe out, const uint32_t c[2 * N]) {
    uint32_t q[2 * N] = {0}, t[2 * N], sum[2 * N];
    fe r;
    fe_copy(r, c);
    fe_copy(q, c + N);
    while (!fe_is_zero(q)) {
        for (unsigned i = 0; i < 2 * N; i++)
            sum[i] = 0;
        for (unsigned i = 0; i < sizeof terms / sizeof *terms; i++) {
            shifted(t, q, terms[i].exponent);
            if (terms[i].sign > 0)
                words_add(sum, sum, t, 2 * N);
            else
                words_subtract(sum, sum, t, 2 * N);
        }
        uint32_t carry = words_add(r, r, sum, N);
        fe_copy(q, sum + N);
        for (unsigned i = 0; i < N && carry; i++)
            carry = (q[i] += carry) == 0;
    }
    while (!words_below(r, modulus, N))
        words_subtract(r, r, modulus, N);
    fe_copy(out, r);
}

/* Three words that accumulate products. */
typedef struct {
    uint32_t low, middle, high;
} column;

static inline void column_add(column *c, uint32_t a, uint32_t b) {
    uint64_t product = (uint64_t)a * b;
    uint32_t low = (uint32_t)product, high = (uint32_t)(product >> 32), before = c->middle;
    c->low += low;
    c->middle += c->low < low;
    c->high += c->middle < before;
    c->middle += high;
    c->high += c->middle < high;
}

static inline uint32_t column_next(column *c) {
    uint32_t word = c->low;
    *c = (column){c->middle, c->high, 0};
    return word;
}

/* Computes one column of products at a time. */
static void fe_multiply(fe out, const fe a, const fe b) {
    uint32_t c[2 * N];
    column sum = {0, 0, 0};
    for (unsigned k = 0; k < 2 * N; k++) {
        for (unsigned i = k < N ? 0 : k - N + 1; i <= k && i < N; i++)
            column_add(&sum, a[i], b[k - i]);
        c[k] = column_next(&sum);
    }
    reduce(out, c);
}

/* The same; each product of two different words is computed once and added twice. */
static void fe_square(fe out, const fe a) {
    uint32_t c[2 * N];
    column sum = {0, 0, 0};
    for (unsigned k = 0; k < 2 * N; k++) {
        unsigned i = k < N ? 0 : k - N + 1, j = k - i;
        for (; i < j; i++, j--) {
            column_add(&sum, a[i], a[j]);
            column_add(&sum, a[i], a[j]);
        }
        if (i == j)
            column_add(&sum, a[i], a[i]);
        c[k] = column_next(&sum);
    }
    reduce(out, c);
}

/* a^(p - 2), bit by bit. */
static void fe_invert(fe out, const fe a) {
    static const fe two = {2};
    fe exponent, power;
    words_subtract(exponent, modulus, two, N);
    fe_copy(power, a);
    for (unsigned bit = FIELD_BITS - 1; bit-- > 0;) {
        fe_square(power, power);
        if (exponent[bit / 32] >> bit % 32 & 1)
            fe_multiply(power, power, a);
    }
    fe_copy(out, power);
}

static void point_normalise(point *p, const fe inverse) {
    fe square;
    fe_square(square, inverse);
    fe_multiply(p->x, p->x, square);
    fe_multiply(square, square, inverse);
    fe_multiply(p->y, p->y, square);
    fe_copy(p->z, (const fe){1});
    p->affine = 1;
}

/* Formulas dbl-2001-b, or mdbl-2007-bl if z = 1 (Bernstein, Lange, Explicit-Formulas Database). */
static void point_double(point *out, const point *p) {
    fe delta, gamma, beta, alpha, t;
    if (fe_is_zero(p->z)) {
        *out = *p;
        return;
    }
    if (p->affine)
        fe_copy(delta, p->z);
    else
        fe_square(delta, p->z);
    fe_square(gamma, p->y);
    fe_multiply(beta, p->x, gamma);
    fe_subtract(t, p->x, delta);
    fe_add(alpha, p->x, delta);
    fe_multiply(alpha, alpha, t);
    fe_add(t, alpha, alpha);
    fe_add(alpha, alpha, t);
    if (p->affine) {
        fe_add(out->z, p->y, p->y);
    } else {
        fe_add(t, p->y, p->z);
        fe_square(t, t);
        fe_subtract(t, t, gamma);
        fe_subtract(out->z, t, delta);
    }
    fe_add(beta, beta, beta);
    fe_add(beta, beta, beta);
    fe_square(t, alpha);
    fe_subtract(t, t, beta);
    fe_subtract(out->x, t, beta);
    fe_square(gamma, gamma);
    fe_add(gamma, gamma, gamma);
    fe_add(gamma, gamma, gamma);
    fe_add(gamma, gamma, gamma);
    fe_subtract(t, beta, out->x);
    fe_multiply(t, alpha, t);
    fe_subtract(out->y, t, gamma);
    out->affine = 0;
}

/* p + q for an affine q and any p: 8 M + 3 S, or 4 M + 2 S if p is affine too. */
static void point_add(point *out, const point *p, const point *q) {
    fe h, r, t, v;
    if (fe_is_zero(p->z)) {
        *out = *q;
        return;
    }
    if (p->affine) {
        fe_subtract(h, q->x, p->x);
        fe_subtract(r, q->y, p->y);
    } else {
        fe_square(t, p->z);
        fe_multiply(h, q->x, t);
        fe_multiply(t, t, p->z);
        fe_multiply(r, q->y, t);
        fe_subtract(h, h, p->x);
        fe_subtract(r, r, p->y);
    }
    if (fe_is_zero(h)) {
        if (fe_is_zero(r)) {
            point_double(out, p);
        } else {
            *out = *p;
            fe_subtract(out->z, out->z, out->z);
        }
        return;
    }
    if (p->affine)
        fe_copy(out->z, h);
    else
        fe_multiply(out->z, p->z, h);
    fe_square(t, h);
    fe_multiply(v, p->x, t);
    fe_multiply(h, h, t);
    fe_multiply(t, p->y, h);
    fe_square(out->x, r);
    fe_subtract(out->x, out->x, h);
    fe_subtract(out->x, out->x, v);
    fe_subtract(out->x, out->x, v);
    fe_subtract(v, v, out->x);
    fe_multiply(v, v, r);
    fe_subtract(out->y, v, t);
    out->affine = 0;
}

static void words_from_bytes(uint32_t *out, const uint8_t *in, unsigned words) {
    for (unsigned i = 0; i < words; i++) {
        const uint8_t *at = in + 4 * (words - 1 - i);
        out[i] = (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
    }
}

static int point_from_bytes(fe out[2], const uint8_t *in) {
    fe t, u;
    for (unsigned i = 0; i < 2; i++) {
        words_from_bytes(out[i], in + i * FIELD_BITS / 8, N);
        if (!words_below(out[i], modulus, N))
            return 0;
    }
    fe_square(t, out[0]);
    fe_multiply(t, t, out[0]);
    fe_add(u, out[0], out[0]);
    fe_add(u, u, out[0]);
    fe_subtract(t, t, u);
    fe_add(t, t, curve_b);
    fe_square(u, out[1]);
    fe_subtract(t, t, u);
    return fe_is_zero(t);
}

crypto_status ARITHMETIC(load)(ARITHMETIC(ctx) * ctx, const uint8_t *first, const uint8_t *second) {
    if (!point_from_bytes(ctx->first, first) || !point_from_bytes(ctx->second, second))
        return CRYPTO_BAD_TAG;
    return CRYPTO_OK;
}

static point unload(const fe p[2]) {
    point out = {.z = {1}, .affine = 1};
    fe_copy(out.x, p[0]);
    fe_copy(out.y, p[1]);
    return out;
}

static void keep(fe out[3], const point *p) {
    fe_copy(out[0], p->x);
    fe_copy(out[1], p->y);
    fe_copy(out[2], p->z);
}

void ARITHMETIC(add)(ARITHMETIC(ctx) * ctx) {
    point p = unload(ctx->first), q = unload(ctx->second);
    point_add(&p, &p, &q);
    keep(ctx->result, &p);
}

void ARITHMETIC(double)(ARITHMETIC(ctx) * ctx) {
    point p = unload(ctx->first);
    point_double(&p, &p);
    keep(ctx->result, &p);
}

/* Reads a scalar into N + 1 words; returns 0 unless it is above 0 and below the order. */
static int scalar_from_bytes(uint32_t k[N + 1], const uint8_t *in) {
    uint32_t any = 0;
    words_from_bytes(k, in, N);
    k[N] = 0;
    for (unsigned i = 0; i < N; i++)
        any |= k[i];
    return any && words_below(k, order, N + 1);
}

/* Digits that are 0 or odd between -7 and 7, lowest first: the non-adjacent form of width 4
   (Solinas, "Efficient arithmetic on Koblitz curves", 2000). k becomes 0. */
static unsigned digits_of(int8_t digits[SCALAR_MAX], uint32_t k[N + 1]) {
    unsigned length = 0;
    for (;;) {
        uint32_t any = 0;
        for (unsigned i = 0; i <= N; i++)
            any |= k[i];
        if (!any)
            return length;
        uint32_t change[N + 1] = {0};
        int digit = 0;
        if (k[0] & 1) {
            digit = (int)(k[0] & 15);
            if (digit >= 8) {
                digit -= 16;
                change[0] = (uint32_t)-digit;
                words_add(k, k, change, N + 1);
            } else {
                k[0] -= (uint32_t)digit;
            }
        }
        digits[length++] = (int8_t)digit;
        for (unsigned i = 0; i <= N; i++)
            k[i] = k[i] >> 1 | (i < N ? k[i + 1] << 31 : 0);
    }
}

/* p, 3 p, 5 p, 7 p with z = 1: one inversion for 2 p, and one for all others (Montgomery). */
static void odd_multiples(point table[4], const point *p) {
    point two;
    fe inverse, products[4], t;
    table[0] = *p;
    point_double(&two, p);
    fe_invert(inverse, two.z);
    point_normalise(&two, inverse);
    for (unsigned i = 1; i < 4; i++)
        point_add(&table[i], &table[i - 1], &two);
    fe_copy(products[1], table[1].z);
    for (unsigned i = 2; i < 4; i++)
        fe_multiply(products[i], products[i - 1], table[i].z);
    fe_invert(inverse, products[3]);
    for (unsigned i = 3; i > 0; i--) {
        if (i > 1)
            fe_multiply(t, inverse, products[i - 1]);
        else
            fe_copy(t, inverse);
        fe_multiply(inverse, inverse, table[i].z);
        point_normalise(&table[i], t);
    }
}

static crypto_status finish(fe out[3], point *p) {
    fe inverse;
    fe_invert(inverse, p->z);
    point_normalise(p, inverse);
    keep(out, p);
    return CRYPTO_OK;
}

crypto_status ARITHMETIC(multiply)(ARITHMETIC(ctx) * ctx, const uint8_t *scalar) {
    uint32_t k[N + 1];
    int8_t digits[SCALAR_MAX];
    point table[4], p = unload(ctx->first), sum = {.z = {0}}, term;
    if (!scalar_from_bytes(k, scalar))
        return CRYPTO_BAD_TAG;
    odd_multiples(table, &p);
    for (unsigned i = digits_of(digits, k); i-- > 0;) {
        point_double(&sum, &sum);
        if (digits[i] == 0)
            continue;
        term = table[(digits[i] < 0 ? -digits[i] : digits[i]) / 2];
        if (digits[i] < 0)
            fe_subtract(term.y, modulus, term.y);
        point_add(&sum, &sum, &term);
    }
    return finish(ctx->result, &sum);
}

/* A comb of three rows (Lim, Lee, "More flexible exponentiation with precomputation", 1994). */
crypto_status ARITHMETIC(multiply_base)(ARITHMETIC(ctx) * ctx, const uint8_t *scalar) {
    uint32_t k[N + 1];
    point sum = {.z = {0}};
    if (!scalar_from_bytes(k, scalar))
        return CRYPTO_BAD_TAG;
    for (unsigned column = EASY_COLUMNS; column-- > 0;) {
        unsigned index = 0;
        for (unsigned row = 0; row < 3; row++) {
            unsigned bit = column + EASY_COLUMNS * row;
            index |= (bit < 32 * (N + 1) ? k[bit / 32] >> bit % 32 & 1u : 0) << row;
        }
        point_double(&sum, &sum);
        if (index) {
            point term = unload(comb[index - 1]);
            point_add(&sum, &sum, &term);
        }
    }
    return finish(ctx->result, &sum);
}

void ARITHMETIC(store)(const ARITHMETIC(ctx) * ctx, uint8_t *out) {
    point p = unload(ctx->result);
    fe inverse;
    fe_copy(p.z, ctx->result[2]);
    fe_invert(inverse, p.z);
    point_normalise(&p, inverse);
    for (unsigned i = 0; i < FIELD_BITS / 8; i++) {
        out[FIELD_BITS / 8 - 1 - i] = (uint8_t)(p.x[i / 4] >> i % 4 * 8);
        out[FIELD_BITS / 4 - 1 - i] = (uint8_t)(p.y[i / 4] >> i % 4 * 8);
    }
}
