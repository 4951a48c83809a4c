/* Functions of secp256k1-msp430.S. */
#include <stdint.h>

typedef uint16_t fe[16];
#define fe_multiply secp256k1_multiply
#define fe_square secp256k1_square
#define fe_add secp256k1_add
#define fe_subtract secp256k1_subtract

void secp256k1_multiply(fe out, const fe a, const fe b);
void secp256k1_square(fe out, const fe a);
void secp256k1_add(fe out, const fe a, const fe b);
void secp256k1_subtract(fe out, const fe a, const fe b);
