/* The field of P-256 for ARMv7-M cores whose UMULL varies. */
#include "field/multiply-armv7m.S"
#include "field/p256-armv7m.inc"
