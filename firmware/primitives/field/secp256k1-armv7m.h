/* Functions of secp256k1-armv7m.S. */
#include <stdint.h>

typedef uint32_t fe[8];
#define fe_multiply secp256k1_multiply
#define fe_square secp256k1_square
#define fe_add secp256k1_add
#define fe_subtract secp256k1_subtract

void secp256k1_multiply(fe out, const fe a, const fe b);
void secp256k1_square(fe out, const fe a);
void secp256k1_add(fe out, const fe a, const fe b);
void secp256k1_subtract(fe out, const fe a, const fe b);

/* Copies entry `index`, below 8, of a table whose entries have `words` words, a multiple of 4. */
void words_pick(uint32_t *out, const uint32_t *table, unsigned index, unsigned words);
#define fe_pick words_pick
