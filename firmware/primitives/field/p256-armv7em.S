/* The field of P-256 for ARMv7E-M. */
#include "field/multiply-armv7em.S"
#include "field/p256-armv7m.inc"
