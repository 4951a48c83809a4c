/* Functions of gf2-233-armv7m.S. */
#include <stdint.h>

#define FE_WORD_BITS 32
#define fe_product gf2_product_256

void gf2_product_256(uint32_t out[16], const uint32_t a[8], const uint32_t b[8]);
