/* Quotients modulo an odd prime by division steps (Bernstein and Yang, "Fast constant-time gcd
   computation and modular inversion", 2019). Constant time. The including file has defined
   ORDER_WORD_BITS, which is 32 if a 32 x 32-bit product takes the same time for all operands, else
   16; optionally also limb_steps and number_transform, with NUMBERS_OF_NINE_LIMBS. */
#ifndef FIELD_INVERSION_H
#define FIELD_INVERSION_H

#include "crypto.h"

/* Limbs have two bits less than their words, so that sums of three products fit two words. */
#if ORDER_WORD_BITS == 32
#define LIMB_BITS 30
typedef uint32_t limb_word; /* unsigned */
typedef int32_t limb;
typedef int64_t limb_product;
#else
#define LIMB_BITS 14
typedef uint16_t limb_word;
typedef int16_t limb;
typedef int32_t limb_product;
#endif
#define LIMB_MASK (((limb_word)1 << LIMB_BITS) - 1)

/* Number of limbs for numbers of this many bytes, with a sign and up to twice as large. */
#define NUMBER_LIMBS(bytes) ((8 * (bytes) + 2 + LIMB_BITS - 1) / LIMB_BITS)

/* Lowest limb first; only the highest may be negative. */
typedef limb number[NUMBER_LIMBS(32)];

/* Returns -1 for a negative number, else 0. The barrier hides the value, because compilers would
   compare and jump. */
static limb limb_sign(limb a) {
    __asm__("" : "+r"(a));
    return (limb)crypto_mask32((unsigned)((limb_word)a >> (8 * sizeof a - 1)));
}

/* a, negated if `negative` is -1, plus the modulus if `more` is -1. */
CRYPTO_NOT_INLINE static void number_turn(number a, const number modulus, limb negative, limb more,
                                          unsigned limbs) {
    limb_product sum = 0;
    for (unsigned i = 0; i < limbs; i++) {
        sum += (limb)((a[i] ^ negative) - negative);
        sum += (limb)(modulus[i] & more);
        a[i] = (limb)((limb_word)sum & (i + 1 < limbs ? LIMB_MASK : (limb_word)-1));
        sum >>= LIMB_BITS;
    }
}

#ifndef NUMBERS_OF_NINE_LIMBS
/* (a, b) = (t0 a + t1 b, t2 a + t3 b) / 2^LIMB_BITS. Either modulo the modulus, where a and b are
   and stay above -2 moduli and below the modulus; or, without a modulus, for sums that are
   divisible. |t0| + |t1| and |t2| + |t3| are at most 2^LIMB_BITS; inverse is -1 / modulus. */
CRYPTO_NOT_INLINE static void number_transform(number a, number b, const limb t[4],
                                               const limb *modulus, limb_word inverse,
                                               unsigned limbs) {
    limb_product to_a = 0, to_b = 0;
    limb times_a = 0, times_b = 0;
    if (modulus) {
        /* The multiple of the modulus to add: once per negative number, less the multiple that
           clears the lowest limb. */
        limb a_negative = limb_sign(a[limbs - 1]), b_negative = limb_sign(b[limbs - 1]);
        limb_word low_a =
            (limb_word)((limb_word)t[0] * (uint32_t)a[0] + (limb_word)t[1] * (uint32_t)b[0]);
        limb_word low_b =
            (limb_word)((limb_word)t[2] * (uint32_t)a[0] + (limb_word)t[3] * (uint32_t)b[0]);
        times_a = (limb)((t[0] & a_negative) + (t[1] & b_negative));
        times_b = (limb)((t[2] & a_negative) + (t[3] & b_negative));
        low_a = (limb_word)((limb_word)times_a - (uint32_t)low_a * inverse);
        low_b = (limb_word)((limb_word)times_b - (uint32_t)low_b * inverse);
        times_a = (limb)(times_a - (limb)(low_a & LIMB_MASK));
        times_b = (limb)(times_b - (limb)(low_b & LIMB_MASK));
    }
    for (unsigned i = 0; i < limbs; i++) {
        limb x = a[i], y = b[i];
        to_a += (limb_product)t[0] * x + (limb_product)t[1] * y;
        to_b += (limb_product)t[2] * x + (limb_product)t[3] * y;
        if (modulus) {
            limb more = modulus[i];
            to_a += (limb_product)times_a * more;
            to_b += (limb_product)times_b * more;
        }
        if (i > 0) {
            a[i - 1] = (limb)((limb_word)to_a & LIMB_MASK);
            b[i - 1] = (limb)((limb_word)to_b & LIMB_MASK);
        }
        to_a >>= LIMB_BITS;
        to_b >>= LIMB_BITS;
    }
    a[limbs - 1] = (limb)to_a;
    b[limbs - 1] = (limb)to_b;
}

/* Runs one limb's bits of division steps (the paper's section 8) on the lowest limbs of f and g.
   Returns delta after them; t is 2^LIMB_BITS times the matrix that transforms f and g. */
CRYPTO_NOT_INLINE static limb limb_steps(limb t[4], limb delta, limb_word f, limb_word g) {
    limb_word t0 = 1, t1 = 0, t2 = 0, t3 = 1;
    for (unsigned i = 0; i < LIMB_BITS; i++) {
        limb_word odd = (limb_word)crypto_mask32(g & 1);
        limb_word positive = (limb_word)limb_sign((limb)-delta);
        /* g + f or, if delta is positive, g - f, and then f becomes g. */
        g = (limb_word)(g + (((f ^ positive) - positive) & odd));
        t2 = (limb_word)(t2 + (((t0 ^ positive) - positive) & odd));
        t3 = (limb_word)(t3 + (((t1 ^ positive) - positive) & odd));
        positive &= odd;
        f = (limb_word)(f + (g & positive));
        t0 = (limb_word)((t0 + (t2 & positive)) << 1);
        t1 = (limb_word)((t1 + (t3 & positive)) << 1);
        delta = (limb)((delta ^ (limb)positive) - (limb)positive + 1);
        g >>= 1;
    }
    t[0] = (limb)t0;
    t[1] = (limb)t1;
    t[2] = (limb)t2;
    t[3] = (limb)t3;
    return delta;
}
#endif

/* a = a / b modulo the modulus, not negative; 0 if b is 0 modulo it. Numbers have `bytes` bytes. As
   f and b go from the modulus and b to 1 or -1 and 0, d and a go from 0 and a while d b = a f. The
   paper's theorem 11.2 gives the number of steps. b is destroyed. */
CRYPTO_NOT_INLINE static void number_divide(number a, number b, const number modulus,
                                            limb_word inverse, unsigned bytes) {
    unsigned limbs = NUMBER_LIMBS(bytes), steps = (49 * 8 * bytes + 57) / 17;
    number f, d = {0};
    limb t[4], delta = 1;
    for (unsigned i = 0; i < limbs; i++)
        f[i] = modulus[i];
    for (unsigned step = 0; step < steps; step += LIMB_BITS) {
        delta = limb_steps(t, delta, (limb_word)f[0], (limb_word)b[0]);
        number_transform(f, b, t, 0, 0, limbs);
        number_transform(d, a, t, modulus, inverse, limbs);
    }
    number_turn(d, modulus, 0, limb_sign(d[limbs - 1]), limbs);
    number_turn(d, modulus, limb_sign(f[limbs - 1]), 0, limbs);
    number_turn(d, modulus, 0, limb_sign(d[limbs - 1]), limbs);
    for (unsigned i = 0; i < limbs; i++)
        a[i] = d[i];
}

#endif
