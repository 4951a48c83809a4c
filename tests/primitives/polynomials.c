/* Products of polynomials over GF(2) in assembly, on operands that the test writes. */
#include "cases.h"
#ifdef __MSP430__
#include "gf2-233-msp430.h"
typedef uint16_t operand[1];
#define MULTIPLY(out, a, b) (*(uint32_t *)(out) = gf2_product_16(*(a), *(b)))
#else
#include "gf2-233-armv7m.h"
typedef uint32_t operand[8];
#define MULTIPLY gf2_product_256
#endif

volatile operand operands[CASES][2];
volatile operand results[CASES][2];

static void compute(unsigned i) {
    const operand *in = (const operand *)operands[i];
    operand *out = (operand *)results[i];
    MULTIPLY(out[0], in[0], in[1]);
}
