/* Points of edwards25519 (RFC 8032, section 5.1) in extended coordinates: x = X / Z, y = Y / Z, xy
   = T / Z. The including file has included field/p25519.h. Addition is complete: equal points and
   the neutral one need no special case. */
#ifndef CURVE_EDWARDS25519_H
#define CURVE_EDWARDS25519_H

#include "curve/edwards25519-constants.h"
#include "field/p25519.h"

#if FE_WORD_BITS == 32
#define W(x) x##ul
#else
#define W(x) (uint16_t)(x##ul), (uint16_t)(x##ul >> 16)
#endif
static const fe edwards25519_d = EDWARDS25519_D;
static const fe edwards25519_2d = EDWARDS25519_2D;
static const fe edwards25519_root = EDWARDS25519_ROOT; /* of -1 */
static const fe edwards25519_comb[8][3] = EDWARDS25519_COMB;
#undef W

typedef struct {
    fe x, y, z, t;
} point;

/* A point to be added repeatedly: y - x, y + x, 2 d x y, and 2 z if z is not 1. */
typedef struct {
    fe less, more, product;
} affine_point;

typedef struct {
    affine_point p;
    fe z2;
} ready_point;

/* Formulas dbl-2008-hwcd (Hisil, Wong, Carter, Dawson, "Twisted Edwards curves revisited"): 4 M + 4
   S. */
static void point_double(point *p) {
    fe a, b, e, g;
    fe_add(e, p->x, p->y);
    fe_square(e, e);
    fe_square(a, p->x);
    fe_square(b, p->y);
    fe_add(g, a, b);
    fe_subtract(e, e, g);
    fe_subtract(b, b, a);
    fe_square(a, p->z);
    fe_add(a, a, a);
    fe_subtract(a, b, a);
    /* -g is H, and E F is negated accordingly */
    fe_multiply(p->x, e, a);
    fe_multiply(p->z, a, b);
    fe_subtract(a, (const fe_word[FE_WORDS]){0}, g);
    fe_multiply(p->y, b, a);
    fe_multiply(p->t, e, a);
}

/* add-2008-hwcd-3 with the second point's terms precomputed: 8 M, or 7 M if d holds 2 Z1 Z2. */
static void point_add_with(point *p, const affine_point *q, const fe d) {
    fe a, b, c;
    fe_subtract(a, p->y, p->x);
    fe_multiply(a, a, q->less);
    fe_add(b, p->y, p->x);
    fe_multiply(b, b, q->more);
    fe_multiply(c, p->t, q->product);
    fe_subtract(p->x, b, a);
    fe_add(b, b, a);
    fe_subtract(a, d, c);
    fe_add(c, d, c);
    fe_copy(p->t, p->x);
    fe_multiply(p->x, p->x, a);
    fe_multiply(p->y, c, b);
    fe_multiply(p->z, a, c);
    fe_multiply(p->t, p->t, b);
}

static void point_add_affine(point *p, const affine_point *q) {
    fe d;
    fe_add(d, p->z, p->z);
    point_add_with(p, q, d);
}

static void point_add(point *p, const ready_point *q) {
    fe d;
    fe_multiply(d, p->z, q->z2);
    point_add_with(p, &q->p, d);
}

static void point_ready(ready_point *out, const point *p) {
    fe_subtract(out->p.less, p->y, p->x);
    fe_add(out->p.more, p->y, p->x);
    fe_multiply(out->p.product, p->t, edwards25519_2d);
    fe_add(out->z2, p->z, p->z);
}

#endif
