/* montgomery-armv7em.S: a b / 2^256 modulo an odd modulus, in eight words and not necessarily below
   it; inverse = -1 / modulus modulo 2^32. */
#include <stdint.h>

void montgomery_multiply256(uint32_t out[8], const uint32_t a[8], const uint32_t b[8],
                            const uint32_t modulus[8], uint32_t inverse);

#define ORDER_EXTERNAL_MULTIPLY(out, a, b)                                                         \
    montgomery_multiply256(out, a, b, order_modulus, ORDER_INVERSE)
