/* The field of P-256 for ARMv7-M cores whose UMULL takes a varying time. */
#include "field/multiply-armv7m.S"
#include "field/p256-armv7m.inc"
#include "field/p256-reduce-armv7m.inc"

/* void p256_multiply(uint32_t out[8], const uint32_t a[8], const uint32_t b[8]); */
function p256_multiply
    multiply256
    reduce
    leave256

/* void p256_square(uint32_t out[8], const uint32_t a[8]); */
function p256_square
    square256
    reduce
    leave256
