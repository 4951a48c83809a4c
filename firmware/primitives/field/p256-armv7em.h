/* What p256-armv7em.S computes with. */
#include "field/p256-armv7m.h"

/* 2 p, of a point's three coordinates; out may be p. */
void p256_double(uint32_t out[24], const uint32_t p[24]);
#define fe_point_double(out, p) p256_double((uint32_t *)(out), (const uint32_t *)(p))
