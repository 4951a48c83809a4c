/* Functions of gf2-233-msp430.S. */
#include <stdint.h>

#define word_product gf2_product_16

uint32_t gf2_product_16(uint16_t a, uint16_t b);
