/* Functions of p25519-armv6m.S. */
#include <stdint.h>

#define FE_BYTES 32
#define FE_WORDS 8
#define FE_WORD_BITS 32
typedef uint32_t fe_word;
typedef fe_word fe[FE_WORDS];

void p25519_multiply(fe out, const fe a, const fe b);
void p25519_square(fe out, const fe a);
void p25519_add(fe out, const fe a, const fe b);
void p25519_subtract(fe out, const fe a, const fe b);
void p25519_multiply_a24(fe out, const fe a);
/* Swaps two pairs of elements if the mask is all ones. */
void p25519_swap(void *a, void *b, uint32_t mask);
void p25519_square_times(fe out, const fe a, uint32_t count, const fe b);
#define fe_square_times p25519_square_times
/* A step of the ladder of key-agreement/x25519/x25519-ladder.h, for its elements. */
void p25519_step(fe elements[9], uint32_t swap);
/* Division steps of f and g, and the same of d and e modulo 2^255 - 19. */
void p25519_divide(int16_t f_g[18][2], int16_t d_e[18][2]);
#define P25519_DIVIDE p25519_divide
