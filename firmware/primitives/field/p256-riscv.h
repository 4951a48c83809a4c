/* Functions of p256-riscv.S. */
#include <stdint.h>

typedef uint32_t fe[8];
#define fe_multiply p256_multiply
#define fe_square p256_square
#define fe_add p256_add
#define fe_subtract p256_subtract

void p256_multiply(fe out, const fe a, const fe b);
void p256_square(fe out, const fe a);
void p256_add(fe out, const fe a, const fe b);
void p256_subtract(fe out, const fe a, const fe b);
