/* Products by the 16 x 16 hardware multiplier (SLAU049, chapter 7), which no interrupt may use
   meanwhile. */
#ifndef MLKEM_MULTIPLIER_H
#define MLKEM_MULTIPLIER_H

#include "kem/ml-kem/mlkem-arithmetic.h"

#define MULTIPLIER(address) (*(volatile uint16_t *)(address))
#define FIRST_UNSIGNED MULTIPLIER(0x130)
#define FIRST_SIGNED MULTIPLIER(0x132)
#define FIRST_SIGNED_ADDING MULTIPLIER(0x136)
#define SECOND MULTIPLIER(0x138)
#define LOW MULTIPLIER(0x13a)
#define HIGH MULTIPLIER(0x13c)

/* Divides what the multiplier holds by R. The low half cancels: no borrow comes from it. */
static inline int16_t result_by_r(void) {
    uint16_t low = LOW, high = HIGH;
    FIRST_UNSIGNED = low;
    SECOND = 62209;
    FIRST_SIGNED = LOW;
    SECOND = Q;
    return (int16_t)(high - HIGH);
}

static inline int16_t product(int16_t a, int16_t b) {
    FIRST_SIGNED = (uint16_t)a;
    SECOND = (uint16_t)b;
    return result_by_r();
}

static inline int16_t sum_of_products(int16_t a, int16_t b, int16_t c, int16_t d) {
    FIRST_SIGNED = (uint16_t)a;
    SECOND = (uint16_t)b;
    FIRST_SIGNED_ADDING = (uint16_t)c;
    SECOND = (uint16_t)d;
    return result_by_r();
}

#endif
