/* Functions of secp160r1-msp430.S. */
#include <stdint.h>

typedef uint16_t fe[10];
#define fe_multiply secp160r1_multiply
#define fe_square secp160r1_square
#define fe_add secp160r1_add
#define fe_subtract secp160r1_subtract

void secp160r1_multiply(fe out, const fe a, const fe b);
void secp160r1_square(fe out, const fe a);
void secp160r1_add(fe out, const fe a, const fe b);
void secp160r1_subtract(fe out, const fe a, const fe b);
