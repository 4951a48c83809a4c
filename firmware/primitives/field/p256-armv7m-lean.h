/* Functions of p256-armv7m-lean.S. */
#include <stdint.h>

typedef uint32_t fe[8];
#define fe_multiply p256_multiply_lean
#define fe_square(out, a) p256_multiply_lean(out, a, a)
#define fe_add p256_add
#define fe_subtract p256_subtract

void p256_multiply_lean(fe out, const fe a, const fe b);
void p256_add(fe out, const fe a, const fe b);
void p256_subtract(fe out, const fe a, const fe b);
