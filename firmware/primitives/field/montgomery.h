/* Arithmetic modulo an odd number, in Montgomery's form ("Modular multiplication without trial division",
   1985): x R mod m stands for x, R = 2^(8 bytes). For any word size; nothing depends on operands. A template:
   whoever includes this has defined, and it undefines,

     MODULAR(name)       a name's prefix
     MODULAR_BYTES       a multiple of 4
     MODULAR_MODULUS     { W(least significant 32 bits), ... }
     MODULAR_INVERSE     -1 / m mod 2^32
   and FE_WORD_BITS, 16 or 32, once. Elements are below the modulus. */
#ifndef FIELD_MONTGOMERY_H
#define FIELD_MONTGOMERY_H

#include "crypto.h"

#if FE_WORD_BITS == 32
typedef uint32_t fe_word;
typedef uint64_t fe_double;
#define W(x) x##u
#else
typedef uint16_t fe_word;
typedef uint32_t fe_double;
#define W(x) (uint16_t)(x##u), (uint16_t)(x##u >> 16)
#endif

#endif

#define N (MODULAR_BYTES / sizeof(fe_word))
#define ELEMENT MODULAR(fe)
#define MODULUS MODULAR(modulus)

typedef fe_word ELEMENT[N];
static const ELEMENT MODULUS = MODULAR_MODULUS;

/* a - m where a, with the carry above it, is not below m. */
static void MODULAR(below)(ELEMENT out, const ELEMENT a, fe_word carry) {
    ELEMENT less;
    fe_word borrow = 0;
    for (unsigned i = 0; i < N; i++) {
        fe_double difference = (fe_double)a[i] - MODULUS[i] - borrow;
        less[i] = (fe_word)difference;
        borrow = (fe_word)(difference >> FE_WORD_BITS) & 1;
    }
    /* Kept where it borrowed and nothing stood above it. */
    fe_word keep = (fe_word)crypto_mask32(borrow & (carry ^ 1u));
    for (unsigned i = 0; i < N; i++)
        out[i] = (fe_word)((a[i] & keep) | (less[i] & (fe_word)~keep));
}

static void MODULAR(add)(ELEMENT out, const ELEMENT a, const ELEMENT b) {
    fe_word carry = 0;
    for (unsigned i = 0; i < N; i++) {
        fe_double sum = (fe_double)a[i] + b[i] + carry;
        out[i] = (fe_word)sum;
        carry = (fe_word)(sum >> FE_WORD_BITS);
    }
    MODULAR(below)(out, out, carry);
}

static void MODULAR(subtract)(ELEMENT out, const ELEMENT a, const ELEMENT b) {
    fe_word borrow = 0, carry = 0;
    for (unsigned i = 0; i < N; i++) {
        fe_double difference = (fe_double)a[i] - b[i] - borrow;
        out[i] = (fe_word)difference;
        borrow = (fe_word)(difference >> FE_WORD_BITS) & 1;
    }
    fe_word mask = (fe_word)crypto_mask32(borrow);
    for (unsigned i = 0; i < N; i++) {
        fe_double sum = (fe_double)out[i] + (MODULUS[i] & mask) + carry;
        out[i] = (fe_word)sum;
        carry = (fe_word)(sum >> FE_WORD_BITS);
    }
}

/* a b / R: a word of a, and of what clears the lowest word, at a time. */
static void MODULAR(multiply)(ELEMENT out, const ELEMENT a, const ELEMENT b) {
    fe_word t[N + 1] = {0};
    for (unsigned i = 0; i < N; i++) {
        fe_word carry = 0, high;
        for (unsigned j = 0; j < N; j++) {
            fe_double sum = (fe_double)a[i] * b[j] + t[j] + carry;
            t[j] = (fe_word)sum;
            carry = (fe_word)(sum >> FE_WORD_BITS);
        }
        fe_double top = (fe_double)t[N] + carry;
        high = (fe_word)(top >> FE_WORD_BITS);
        t[N] = (fe_word)top;
        fe_word times = (fe_word)((fe_double)t[0] * (fe_word)MODULAR_INVERSE);
        carry = (fe_word)(((fe_double)times * MODULUS[0] + t[0]) >> FE_WORD_BITS);
        for (unsigned j = 1; j < N; j++) {
            fe_double sum = (fe_double)times * MODULUS[j] + t[j] + carry;
            t[j - 1] = (fe_word)sum;
            carry = (fe_word)(sum >> FE_WORD_BITS);
        }
        top = (fe_double)t[N] + carry;
        t[N - 1] = (fe_word)top;
        t[N] = (fe_word)(high + (fe_word)(top >> FE_WORD_BITS));
    }
    MODULAR(below)(out, t, t[N]);
}

/* a^(m - 2), 1 / a where m is prime; 0 where a is 0. The exponent is public. */
static void MODULAR(invert)(ELEMENT out, const ELEMENT a) {
    ELEMENT base, result;
    fe_word exponent, borrow = 2;
    unsigned first = 1;
    for (unsigned i = 0; i < N; i++)
        base[i] = a[i];
    for (unsigned i = 0; i < N; i++) {
        exponent = (fe_word)(MODULUS[i] - borrow);
        borrow = MODULUS[i] < borrow;
        for (unsigned bit = 0; bit < FE_WORD_BITS; bit++) {
            if (exponent >> bit & 1) {
                if (first)
                    for (unsigned n = 0; n < N; n++)
                        result[n] = base[n];
                else
                    MODULAR(multiply)(result, result, base);
                first = 0;
            }
            MODULAR(multiply)(base, base, base);
        }
    }
    for (unsigned n = 0; n < N; n++)
        out[n] = result[n];
}

#undef N
#undef ELEMENT
#undef MODULUS
#undef MODULAR
#undef MODULAR_BYTES
#undef MODULAR_MODULUS
#undef MODULAR_INVERSE
