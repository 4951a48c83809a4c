/* The field of secp256k1 for ARMv7-M cores whose UMULL takes a varying time. */
#include "field/multiply-armv7m.S"

.macro above_word high, low, word, by
    uxth    \low, \word
    mul     \low, \low, \by
    lsr     \high, \word, #16
    mul     \high, \high, \by
    add     \high, \high, \low, lsr #16
    lsr     \high, \high, #16
.endm

#include "field/secp256k1-armv7m.inc"
