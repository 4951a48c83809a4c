/* Sums of multiples of public points, in a time that depends on them: what verification needs of a
   curve over a prime field. */
#ifndef CURVE_PRIME_PUBLIC_H
#define CURVE_PRIME_PUBLIC_H

#include "curve/digits.h"
#include "curve/prime.h"

/* p + q whatever they are; infinity is z = 0. For public points alone. */
static void point_add_any(point *p, const ready_point *q) {
    point sum;
    if (fe_is_zero(p->z)) {
        *p = q->p;
        return;
    }
    point_add(&sum, p, q);
    if (fe_is_zero(sum.x) && fe_is_zero(sum.y) && fe_is_zero(sum.z))
        point_double(&sum, p);
    *p = sum;
}

/* p, 3 p, ..., 15 p */
static void odd_multiples(ready_point table[8], const point *p) {
    point sum = *p;
    ready_point two;
    point_double(&sum, &sum);
    point_ready(&two, &sum);
    point_ready(&table[0], p);
    for (unsigned i = 1; i < 8; i++) {
        sum = table[i - 1].p;
        point_add_any(&sum, &two);
        point_ready(&table[i], &sum);
    }
}

static void add_digit(point *p, const ready_point table[8], int digit) {
    static const fe zero;
    ready_point term;
    if (digit == 0)
        return;
    term = table[(digit < 0 ? -digit : digit) / 2];
    if (digit < 0)
        fe_subtract(term.p.y, zero, term.p.y);
    point_add_any(p, &term);
}

/* x of u G + v q, G being the generator; 0 where that is infinity. */
static int point_sum_x(uint8_t x[FIELD_BYTES], const scalar u, const scalar v, const point *q) {
    ready_point of_generator[8], of_point[8];
    int8_t generator_digits[8 * SCALAR_BYTES + 1], point_digits[8 * SCALAR_BYTES + 1];
    point p;
    scalar_digits(generator_digits, u, SCALAR_BYTES);
    scalar_digits(point_digits, v, SCALAR_BYTES);
    odd_multiples(of_point, q);
    fe_copy(p.x, curve_generator[0]);
    fe_copy(p.y, curve_generator[1]);
    fe_copy(p.z, curve_generator[2]);
    odd_multiples(of_generator, &p);
    p = (point){.x = {0}};
    fe_copy(p.x, fe_one);
    fe_copy(p.y, fe_one);
    for (unsigned i = 8 * SCALAR_BYTES + 1; i-- > 0;) {
        point_double(&p, &p);
        add_digit(&p, of_point, point_digits[i]);
        add_digit(&p, of_generator, generator_digits[i]);
    }
    if (fe_is_zero(p.z))
        return 0;
    point_to_bytes(x, NULL, &p);
    return 1;
}

#endif
