/* Functions of p25519-msp430.S. */
#include <stdint.h>

#define FE_BYTES 32
#define FE_WORDS 16
#define FE_WORD_BITS 16
typedef uint16_t fe_word;
typedef fe_word fe[FE_WORDS];

void p25519_multiply(fe out, const fe a, const fe b);
void p25519_square(fe out, const fe a);
void p25519_add(fe out, const fe a, const fe b);
void p25519_subtract(fe out, const fe a, const fe b);
void p25519_multiply_a24(fe out, const fe a);
/* Swaps two pairs of elements if the mask is all ones. */
void p25519_swap(void *a, void *b, uint32_t mask);
