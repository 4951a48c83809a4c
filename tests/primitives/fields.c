/* Each operation of FIELD, which is in assembly and declared by FIELD_HEADER, on operands that the
   test writes. */
#include "cases.h"
#include FIELD_HEADER

#define NAMED(field, name) field##_##name
#define NAME(field, name) NAMED(field, name)

volatile fe operands[CASES][2];
volatile fe results[CASES][4];

static void compute(unsigned i) {
    const fe *in = (const fe *)operands[i];
    fe *out = (fe *)results[i];
    NAME(FIELD, multiply)(out[0], in[0], in[1]);
    NAME(FIELD, square)(out[1], in[0]);
    NAME(FIELD, add)(out[2], in[0], in[1]);
    NAME(FIELD, subtract)(out[3], in[0], in[1]);
}
