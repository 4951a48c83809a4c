/* Functions of p256-armv7em.S. */
#include "field/inversion-armv7em.h"
#include "field/p256-armv7m.h"

/* 2 p, all three coordinates; out may be p. */
void p256_double(uint32_t out[24], const uint32_t p[24]);
#define fe_point_double(out, p) p256_double((uint32_t *)(out), (const uint32_t *)(p))

/* p + q, as point_add and point_add_affine of curve/weierstrass.h; out may be p. */
void p256_add_ready(uint32_t out[24], const uint32_t p[24], const uint32_t q[40]);
void p256_add_affine(uint32_t out[24], const uint32_t p[24], const uint32_t q[16]);
#define fe_point_add(out, p, q)                                                                    \
    p256_add_ready((uint32_t *)(out), (const uint32_t *)(p), (const uint32_t *)(q))
#define fe_point_add_affine(out, p, q)                                                             \
    p256_add_affine((uint32_t *)(out), (const uint32_t *)(p), (const uint32_t *)(q))
