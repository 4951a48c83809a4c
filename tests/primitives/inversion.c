/* Inverses modulo P-256's prime and its order, on operands that the test writes. */
#include "cases.h"
#define FE_WORD_BITS 32
#define ORDER_WORD_BITS 32
#include FIELD_HEADER
#include "curve/p256-constants.h"
#include "curve/prime.h"

volatile fe operands[CASES];
volatile fe results[CASES][2];

static void compute(unsigned i) {
    field_invert((uint32_t *)results[i][0], (const uint32_t *)operands[i]);
    order_invert((uint32_t *)results[i][1], (const uint32_t *)operands[i]);
}
