/* The field of secp256k1 for ARMv7E-M. */
#include "field/multiply-armv7em.S"
#include "field/secp256k1-armv7m.inc"
