/* Arithmetic on points of a curve, as published measurements count it. Each primitive provides, for
   its prefix p:

     enum { P_SCALAR_BYTES, P_POINT_BYTES };
     crypto_status p_load(p_ctx *ctx, const uint8_t *first, const uint8_t *second)
     void p_add(p_ctx *ctx)
     void p_double(p_ctx *ctx)
     crypto_status p_multiply(p_ctx *ctx, const uint8_t *scalar)
     crypto_status p_multiply_base(p_ctx *ctx, const uint8_t *scalar)
     void p_store(const p_ctx *ctx, uint8_t *point)

   Points are X and Y, big-endian. A point that is not on the curve, or a scalar that is 0 or not
   below the order, gives CRYPTO_BAD_TAG. p_add needs two points that differ and are not each
   other's negative. Sums and doubles stay in the coordinates in which they are computed; multiples
   end in affine ones. */
#ifndef CURVE_ARITHMETIC_H
#define CURVE_ARITHMETIC_H

#include "crypto.h"

#endif
