/* X25519's ladder that FIELD_HEADER declares, on operands that the test writes: x, and a scalar. */
#include "cases.h"
#include FIELD_HEADER

volatile fe operands[CASES][2];
volatile fe results[CASES][2];

static void compute(unsigned i) {
    const fe *in = (const fe *)operands[i];
    P25519_LADDER((fe *)results[i], in[0], (const uint8_t *)in[1]);
}
