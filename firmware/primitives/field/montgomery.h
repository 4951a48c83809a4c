/* Arithmetic modulo an odd number, in Montgomery form ("Modular multiplication without trial
   division", 1985): x R mod m stands for x, R = 2^(8 bytes). For any word size; constant time. This
   is a template: the including file has defined the following, which it undefines.

     MODULAR(name)       adds a prefix to a name
     MODULAR_BYTES       a multiple of 4
     MODULAR_MODULUS     { W(least significant 32 bits), ... }
     MODULAR_INVERSE     -1 / m mod 2^32
     MODULAR_R2          R^2 mod m, written like the modulus
     MODULAR_WORD_BITS   16 or 32
     MODULAR_EXTERNAL_MULTIPLY  optional: replaces the multiplication; may return unreduced numbers

   Elements are below the modulus. */
#ifndef FIELD_MONTGOMERY_H
#define FIELD_MONTGOMERY_H

#include "field/inversion.h"

#define MODULAR_WORDS_32(x) x##ul
#define MODULAR_WORDS_16(x) (uint16_t)(x##ul), (uint16_t)(x##ul >> 16)

#endif

#if MODULAR_WORD_BITS == 32
#define WORD uint32_t
#define DOUBLE uint64_t
#define W(x) MODULAR_WORDS_32(x)
#else
#define WORD uint16_t
#define DOUBLE uint32_t
#define W(x) MODULAR_WORDS_16(x)
#endif

#define N (MODULAR_BYTES / sizeof(WORD))
#define ELEMENT MODULAR(fe)
#define MODULUS MODULAR(modulus)

typedef WORD ELEMENT[N];
static const ELEMENT MODULUS = MODULAR_MODULUS;
__attribute__((unused)) static const ELEMENT MODULAR(r2) = MODULAR_R2;

/* Subtracts m from a if a, with the carry above it, is not below m. */
static void MODULAR(below)(ELEMENT out, const ELEMENT a, WORD carry) {
    ELEMENT less;
    WORD borrow = 0;
    for (unsigned i = 0; i < N; i++) {
        DOUBLE difference = (DOUBLE)a[i] - MODULUS[i] - borrow;
        less[i] = (WORD)difference;
        borrow = (WORD)(difference >> MODULAR_WORD_BITS) & 1;
    }
    /* Keep a if the subtraction borrowed and there was no carry above it. */
    WORD keep = (WORD)crypto_mask32(borrow & (carry ^ 1u));
    for (unsigned i = 0; i < N; i++)
        out[i] = (WORD)((a[i] & keep) | (less[i] & (WORD)~keep));
}

__attribute__((unused)) static void MODULAR(add)(ELEMENT out, const ELEMENT a, const ELEMENT b) {
    WORD carry = 0;
    for (unsigned i = 0; i < N; i++) {
        DOUBLE sum = (DOUBLE)a[i] + b[i] + carry;
        out[i] = (WORD)sum;
        carry = (WORD)(sum >> MODULAR_WORD_BITS);
    }
    MODULAR(below)(out, out, carry);
}

__attribute__((unused)) static void MODULAR(subtract)(ELEMENT out, const ELEMENT a,
                                                      const ELEMENT b) {
    WORD borrow = 0, carry = 0;
    for (unsigned i = 0; i < N; i++) {
        DOUBLE difference = (DOUBLE)a[i] - b[i] - borrow;
        out[i] = (WORD)difference;
        borrow = (WORD)(difference >> MODULAR_WORD_BITS) & 1;
    }
    WORD mask = (WORD)crypto_mask32(borrow);
    for (unsigned i = 0; i < N; i++) {
        DOUBLE sum = (DOUBLE)out[i] + (MODULUS[i] & mask) + carry;
        out[i] = (WORD)sum;
        carry = (WORD)(sum >> MODULAR_WORD_BITS);
    }
}

#ifndef MODULAR_EXTERNAL_MULTIPLY
/* a b / R: adds one word of a, and the multiple of m that clears the lowest word, at a time. */
__attribute__((unused)) static void MODULAR(multiply)(ELEMENT out, const ELEMENT a,
                                                      const ELEMENT b) {
    WORD t[N + 1] = {0};
    for (unsigned i = 0; i < N; i++) {
        WORD carry = 0, high;
        for (unsigned j = 0; j < N; j++) {
            DOUBLE sum = (DOUBLE)a[i] * b[j] + t[j] + carry;
            t[j] = (WORD)sum;
            carry = (WORD)(sum >> MODULAR_WORD_BITS);
        }
        DOUBLE top = (DOUBLE)t[N] + carry;
        high = (WORD)(top >> MODULAR_WORD_BITS);
        t[N] = (WORD)top;
        WORD times = (WORD)((DOUBLE)t[0] * (WORD)MODULAR_INVERSE);
        carry = (WORD)(((DOUBLE)times * MODULUS[0] + t[0]) >> MODULAR_WORD_BITS);
        for (unsigned j = 1; j < N; j++) {
            DOUBLE sum = (DOUBLE)times * MODULUS[j] + t[j] + carry;
            t[j - 1] = (WORD)sum;
            carry = (WORD)(sum >> MODULAR_WORD_BITS);
        }
        top = (DOUBLE)t[N] + carry;
        t[N - 1] = (WORD)top;
        t[N] = (WORD)(high + (WORD)(top >> MODULAR_WORD_BITS));
    }
    MODULAR(below)(out, t, t[N]);
}
#endif

static void MODULAR(to_number)(number out, const ELEMENT a) {
    for (unsigned i = 0; i < NUMBER_LIMBS(MODULAR_BYTES); i++) {
        unsigned at = i * LIMB_BITS, word = at / MODULAR_WORD_BITS;
        DOUBLE pair = word < N ? a[word] : 0;
        if (word + 1 < N)
            pair |= (DOUBLE)a[word + 1] << MODULAR_WORD_BITS;
        out[i] = (limb)((pair >> at % MODULAR_WORD_BITS) & LIMB_MASK);
    }
}

/* 1 / a in Montgomery form, fully reduced, for an a below twice the modulus, which is prime; 0 if a
   is 0 modulo it. */
CRYPTO_NOT_INLINE __attribute__((unused)) static void MODULAR(invert)(ELEMENT out,
                                                                      const ELEMENT a) {
    number modulus, inverse, divisor;
    MODULAR(to_number)(modulus, MODULUS);
    MODULAR(to_number)(inverse, MODULAR(r2));
    MODULAR(below)(out, a, 0);
    MODULAR(to_number)(divisor, out);
    number_divide(inverse, divisor, modulus, (limb_word)MODULAR_INVERSE, MODULAR_BYTES);
    for (unsigned i = 0; i < N; i++) {
        unsigned at = i * MODULAR_WORD_BITS, from = at / LIMB_BITS;
        WORD word = (WORD)((WORD)inverse[from] >> at % LIMB_BITS);
        for (unsigned have = LIMB_BITS - at % LIMB_BITS; have < MODULAR_WORD_BITS;
             have += LIMB_BITS)
            word = (WORD)(word | (WORD)((WORD)inverse[++from] << have));
        out[i] = word;
    }
}

static void MODULAR(halve)(ELEMENT a, WORD top) {
    for (unsigned i = 0; i < N; i++)
        a[i] = (WORD)(a[i] >> 1 | (WORD)((i + 1 < N ? a[i + 1] : top) << (MODULAR_WORD_BITS - 1)));
}

/* out = a - b; returns the borrow. */
static WORD MODULAR(less)(ELEMENT out, const ELEMENT a, const ELEMENT b) {
    WORD borrow = 0;
    for (unsigned i = 0; i < N; i++) {
        DOUBLE difference = (DOUBLE)a[i] - b[i] - borrow;
        out[i] = (WORD)difference;
        borrow = (WORD)(difference >> MODULAR_WORD_BITS) & 1;
    }
    return borrow;
}

/* 1 / a for a public a that is not 0 and not in Montgomery form; the modulus is prime. The binary
   algorithm (Handbook of Applied Cryptography, 14.61, for the case where both are or become odd):
   its time depends on a. */
__attribute__((unused)) static void MODULAR(invert_public)(ELEMENT out, const ELEMENT a) {
    ELEMENT u, v, x = {1}, y = {0}, difference;
    for (unsigned i = 0; i < N; i++) {
        u[i] = a[i];
        v[i] = MODULUS[i];
    }
    for (;;) {
        for (unsigned side = 0; side < 2; side++) {
            WORD *value = side ? v : u, *factor = side ? y : x;
            while (!(value[0] & 1)) {
                DOUBLE carry = 0;
                MODULAR(halve)(value, 0);
                if (factor[0] & 1)
                    for (unsigned i = 0; i < N; i++, carry >>= MODULAR_WORD_BITS) {
                        carry += (DOUBLE)factor[i] + MODULUS[i];
                        factor[i] = (WORD)carry;
                    }
                MODULAR(halve)(factor, (WORD)carry);
            }
        }
        if (MODULAR(less)(difference, u, v)) {
            MODULAR(less)(v, v, u);
            MODULAR(subtract)(y, y, x);
        } else {
            WORD any = 0;
            for (unsigned i = 0; i < N; i++)
                any |= u[i] = difference[i];
            if (!any)
                break;
            MODULAR(subtract)(x, x, y);
        }
    }
    for (unsigned i = 0; i < N; i++)
        out[i] = y[i];
}

#undef N
#undef ELEMENT
#undef MODULUS
#undef MODULAR
#undef MODULAR_BYTES
#undef MODULAR_MODULUS
#undef MODULAR_INVERSE
#undef MODULAR_R2
#undef MODULAR_EXTERNAL_MULTIPLY
#undef MODULAR_WORD_BITS
#undef WORD
#undef DOUBLE
#undef W
