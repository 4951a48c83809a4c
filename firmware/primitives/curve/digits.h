/* Public scalars as digits, for the variable-time multiplication in verification. */
#ifndef CURVE_DIGITS_H
#define CURVE_DIGITS_H

#include "crypto.h"

/* Digits that are 0 or odd between -15 and 15, at most one in five of them not 0: the non-adjacent
   form of width 5 (Solinas, "Efficient arithmetic on Koblitz curves", 2000). There are 8 bytes + 1
   digits. */
static void scalar_digits(int8_t *digits, const uint8_t *k, unsigned bytes) {
    unsigned carry = 0, bits = 8 * bytes;
    for (unsigned i = 0; i <= bits;) {
        unsigned bit = (i < bits ? k[i / 8] >> i % 8 & 1u : 0) + carry;
        digits[i] = 0;
        if (bit != 1) {
            carry = bit >> 1;
            i++;
            continue;
        }
        /* An odd digit of five bits, including the carry; from 16 up, its difference from 32 is
           used. */
        unsigned value = carry;
        for (unsigned n = 0; n < 5; n++)
            if (i + n < bits)
                value += (k[(i + n) / 8] >> (i + n) % 8 & 1u) << n;
        carry = value >> 4 & 1;
        digits[i] = (int8_t)((int)value - (carry ? 32 : 0));
        for (unsigned n = 1; n < 5 && i + n <= bits; n++)
            digits[i + n] = 0;
        i += 5;
    }
}

#endif
