/* X25519's step that FIELD_HEADER declares, and inversion, on operands that the test writes: two
   points and the x of their difference, and whether to swap, as all ones. */
#include "cases.h"
#include FIELD_HEADER
#include "field/p25519.h"

volatile fe operands[CASES][6];
volatile fe results[CASES][5];

static void compute(unsigned i) {
    const fe *in = (const fe *)operands[i];
    fe elements[9];
    for (unsigned n = 0; n < 5; n++)
        fe_copy(elements[n], in[n]);
    p25519_step(elements, in[5][0]);
    for (unsigned n = 0; n < 4; n++)
        fe_copy((uint32_t *)results[i][n], elements[n]);
    fe_invert((uint32_t *)results[i][4], in[0]);
}
