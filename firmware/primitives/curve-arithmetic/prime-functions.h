/* The declarations of a curve's header for its prefix ARITHMETIC(name), over the type fe. */
#include "curve-arithmetic.h"

typedef struct {
    fe first[2], second[2]; /* x, y */
    fe result[3];           /* X, Y, Z: (X / Z^2, Y / Z^3) */
} ARITHMETIC(ctx);

crypto_status ARITHMETIC(load)(ARITHMETIC(ctx) * ctx, const uint8_t *first, const uint8_t *second);
void ARITHMETIC(add)(ARITHMETIC(ctx) * ctx);
void ARITHMETIC(double)(ARITHMETIC(ctx) * ctx);
crypto_status ARITHMETIC(multiply)(ARITHMETIC(ctx) * ctx, const uint8_t *scalar);
crypto_status ARITHMETIC(multiply_base)(ARITHMETIC(ctx) * ctx, const uint8_t *scalar);
void ARITHMETIC(store)(const ARITHMETIC(ctx) * ctx, uint8_t *point);
