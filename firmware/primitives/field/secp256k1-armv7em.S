/* The field of secp256k1 for ARMv7E-M. */
#include "field/multiply-armv7em.S"

#define OUT 48

/* r0 = out, r1 = a, r2 = b: the product, with its words 4 to 11 in r1-r8. */
.macro multiply256
    push    {r4-r11, lr}
    push    {r0, r1}
    sub     sp, #FRAME_BYTES
    product256
    add     r1, sp, #HIGH
    ldm     r1, {r1-r3}
.endm

/* The same for a's square. */
.macro square256
    push    {r4-r11, lr}
    push    {r0, r1}
    sub     sp, #FRAME_BYTES
    product256_square
    add     r1, sp, #HIGH
    ldm     r1, {r1-r3}
.endm

.macro leave256
    add     sp, #FRAME_BYTES + 8
    pop     {r4-r11, pc}
.endm

.macro above_word high, low, word, by
    umull   \low, \high, \word, \by
.endm

#include "field/secp256k1-armv7m.inc"
#include "field/inversion-armv7em.inc"
