/* The point operations that FIELD_HEADER declares, on operands that the test writes. */
#include "cases.h"
#include FIELD_HEADER

/* A point, and one prepared for addition. */
volatile fe operands[CASES][8];
volatile fe results[CASES][9];

static void compute(unsigned i) {
    const fe *p = (const fe *)operands[i], *q = p + 3;
    fe *out = (fe *)results[i];
    fe_point_double(out, p);
    fe_point_add(out + 3, p, q);
    fe_point_add_affine(out + 6, p, q);
}
