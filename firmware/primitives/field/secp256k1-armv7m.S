/* The field of secp256k1 for ARMv7-M cores whose UMULL varies. */
#include "field/multiply-armv7m.S"
#include "field/secp256k1-armv7m.inc"
