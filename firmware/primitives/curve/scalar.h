/* Scalars of a curve, and arithmetic modulo its order. The including file has included
   curve/NAME-constants.h and defined ORDER_WORD_BITS; if assembly multiplies, also a macro
   ORDER_EXTERNAL_MULTIPLY(out, a, b), whose result need not be fully reduced. */
#ifndef CURVE_SCALAR_H
#define CURVE_SCALAR_H

#include "crypto.h"

#define MODULAR(name) order_##name
#define MODULAR_BYTES ORDER_BYTES
#define MODULAR_MODULUS ORDER_MODULUS
#define MODULAR_INVERSE ORDER_INVERSE
#define MODULAR_R2 ORDER_R2
#define MODULAR_WORD_BITS ORDER_WORD_BITS
#ifdef ORDER_EXTERNAL_MULTIPLY
#define MODULAR_EXTERNAL_MULTIPLY ORDER_EXTERNAL_MULTIPLY
#endif
#include "field/montgomery.h"

#ifdef ORDER_EXTERNAL_MULTIPLY
__attribute__((unused)) static void order_multiply(order_fe out, const order_fe a,
                                                   const order_fe b) {
    ORDER_EXTERNAL_MULTIPLY(out, a, b);
    order_below(out, out, 0);
}
#endif

typedef uint8_t scalar[SCALAR_BYTES]; /* little endian */

#define ORDER_WORD_BYTES (ORDER_WORD_BITS / 8)

static void order_words(order_fe out, const scalar k) {
    for (unsigned i = 0; i < ORDER_BYTES / ORDER_WORD_BYTES; i++) {
        out[i] = 0;
        for (unsigned n = 0; n < ORDER_WORD_BYTES; n++) {
            unsigned at = i * ORDER_WORD_BYTES + n;
            if (at < SCALAR_BYTES)
                out[i] = (__typeof__(out[i]))(out[i] | (uint32_t)k[at] << 8 * n);
        }
    }
}

/* Converts to words and subtracts the order if the number is not below it; the number is below
   twice the order. */
static void order_from_scalar(order_fe out, const scalar k) {
    order_words(out, k);
    order_below(out, out, 0);
}

static void scalar_from_order(scalar out, const order_fe a) {
    for (unsigned i = 0; i < SCALAR_BYTES; i++)
        out[i] = (uint8_t)(a[i / ORDER_WORD_BYTES] >> i % ORDER_WORD_BYTES * 8);
}

/* Reads a secret scalar, big-endian and perhaps shorter than the order. Returns 1 if it is above 0
   and below the order. */
static int scalar_from_secret(scalar out, const uint8_t *in, unsigned bytes) {
    order_fe words;
    scalar reduced;
    uint8_t any = 0;
    for (unsigned i = 0; i < SCALAR_BYTES; i++) {
        out[i] = i < bytes ? in[bytes - 1 - i] : 0;
        any |= out[i];
    }
    order_from_scalar(words, out);
    scalar_from_order(reduced, words);
    return crypto_equal(reduced, out, SCALAR_BYTES) & (int)crypto_not_zero(any);
}

#endif
