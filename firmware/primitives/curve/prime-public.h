/* Sums of multiples of public points in variable time, for verification over a prime field. */
#ifndef CURVE_PRIME_PUBLIC_H
#define CURVE_PRIME_PUBLIC_H

#include "curve/digits.h"
#include "curve/prime.h"

#if FE_WORD_BITS == 32
#define W(x) MODULAR_WORDS_32(x)
#else
#define W(x) MODULAR_WORDS_16(x)
#endif
/* The multiples for scalar_digits' digits: p, 3 p, ..., 15 p. */
#define ODD_MULTIPLES 8
static const affine_point generator_multiples[ODD_MULTIPLES] = CURVE_ODD_MULTIPLES;
#undef W

/* A partial sum; infinity, whatever the point, if it is not finite. */
typedef struct {
    point p;
    int finite;
} public_sum;

/* Equals fe_is_zero, which few elements need: only 0 and the modulus stand for 0. */
static int fe_vanishes(const fe a) {
    return (a[0] == 0 || a[0] == field_modulus[0]) && fe_is_zero(a);
}

/* Corrects sum + q, as left in sum by an addition that could not handle the two points. */
CRYPTO_NOT_INLINE static void sum_mend(public_sum *sum, const point *q) {
    if (!fe_vanishes(sum->p.z))
        return;
    if (fe_vanishes(sum->p.x) && fe_vanishes(sum->p.y))
        point_double(&sum->p, q);
    else
        sum->finite = 0;
}

CRYPTO_NOT_INLINE static void sum_add(public_sum *sum, const ready_point *q) {
    if (sum->finite) {
        point_add(&sum->p, &sum->p, q);
        sum_mend(sum, &q->p);
    } else {
        sum->p = q->p;
        sum->finite = 1;
    }
}

CRYPTO_NOT_INLINE static void sum_add_affine(public_sum *sum, const affine_point *q) {
    point whole;
    if (sum->finite) {
        point_add_affine(&sum->p, &sum->p, q);
        if (!fe_vanishes(sum->p.z))
            return;
    }
    fe_copy(whole.x, q->x);
    fe_copy(whole.y, q->y);
    fe_copy(whole.z, fe_one);
    if (sum->finite) {
        sum_mend(sum, &whole);
    } else {
        sum->p = whole;
        sum->finite = 1;
    }
}

/* No intermediate sum is infinity or 2 p: the order is a prime above 30. */
CRYPTO_NOT_INLINE static void odd_multiples(ready_point table[ODD_MULTIPLES], const point *p) {
    point sum;
    ready_point two;
    point_double(&sum, p);
    point_ready(&two, &sum);
    point_ready(&table[0], p);
    for (unsigned i = 1; i < ODD_MULTIPLES; i++) {
        point_add(&sum, &table[i - 1].p, &two);
        point_ready(&table[i], &sum);
    }
}

/* u G + v q, where G is the generator. */
static void point_sum_public(public_sum *sum, const scalar u, const scalar v, const point *q) {
    static const fe zero;
    ready_point of_point[ODD_MULTIPLES];
    int8_t generator_digits[8 * SCALAR_BYTES + 1], point_digits[8 * SCALAR_BYTES + 1];
    scalar_digits(generator_digits, u, SCALAR_BYTES);
    scalar_digits(point_digits, v, SCALAR_BYTES);
    odd_multiples(of_point, q);
    sum->finite = 0;
    for (unsigned i = 8 * SCALAR_BYTES + 1; i-- > 0;) {
        int digit = point_digits[i];
        if (sum->finite)
            point_double(&sum->p, &sum->p);
        if (digit > 0) {
            sum_add(sum, &of_point[digit / 2]);
        } else if (digit < 0) {
            ready_point term = of_point[-digit / 2];
            fe_subtract(term.p.y, zero, term.p.y);
            sum_add(sum, &term);
        }
        digit = generator_digits[i];
        if (digit) {
            affine_point term = generator_multiples[(digit < 0 ? -digit : digit) / 2];
            if (digit < 0)
                fe_subtract(term.y, zero, term.y);
            sum_add_affine(sum, &term);
        }
    }
}

/* Returns 1 if the x of u G + v q is r modulo the order, 0 < r < order; 0 if it is not, or if the
   sum is infinity. Compares X with r Z^2, and with each other number below the field's modulus that
   is r modulo the order, which avoids an inversion. */
static int point_sum_has_x(const scalar r, const scalar u, const scalar v, const point *q) {
    scalar x, order;
    uint8_t bytes[FIELD_BYTES];
    public_sum sum;
    fe square, t;
    point_sum_public(&sum, u, v, q);
    if (!sum.finite)
        return 0;
    fe_square(square, sum.p.z);
    scalar_from_order(order, order_modulus);
    for (unsigned i = 0; i < SCALAR_BYTES; i++)
        x[i] = r[i];
    for (;;) {
        unsigned carry = 0;
        for (unsigned i = 0; i < FIELD_BYTES; i++)
            bytes[FIELD_BYTES - 1 - i] = x[i];
        for (unsigned i = FIELD_BYTES; i < SCALAR_BYTES; i++)
            carry |= x[i];
        if (carry || !fe_from_bytes(t, bytes))
            return 0;
        fe_multiply(t, t, square);
        fe_subtract(t, t, sum.p.x);
        if (fe_is_zero(t))
            return 1;
        for (unsigned i = 0; i < SCALAR_BYTES; i++) {
            carry += (unsigned)x[i] + order[i];
            x[i] = (uint8_t)carry;
            carry >>= 8;
        }
        if (carry)
            return 0;
    }
}
#define CURVE_COMPARES_X 1

#endif
