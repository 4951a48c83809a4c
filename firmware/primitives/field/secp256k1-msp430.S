/* The field of secp256k1 (SEC 2, version 2.0, 2.4.1), p = 2^256 - 2^32 - 977, for an MSP430 with a
   hardware multiplier. Elements are sixteen words, any number below 2^256, in Montgomery form: x
   2^256 mod p stands for x. Every function takes the same time for all operands. */
.set N, 8
#include "field/multiply-msp430.S"

/* Adds the words from from(sp) on to the registers from r4 on; the carry goes to r15. */
.macro add_words from
    from_memory add, addc, \from
    adc r15
.endm

/* Reduces the product as combine leaves it, divided by 2^256 modulo p, to out (Montgomery, "Modular
   multiplication without trial division", 1985). M with (2^32 + 977) M = the low half L modulo
   2^256 clears that half: the result is the high half + M - ((2^32 + 977) M - L) / 2^256. A word of
   L, less the contribution of M's words before it, becomes one of M: times 1 / 977 modulo 2^16. r12
   is the high half of 977 times the previous word, and borrows. */
.macro reduce
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    mov PRODUCT+2*\i(sp), r14
    .if \i > 0
    sub r12, r14
    subc r13, r13
    .endif
    .if \i > 1
    sub PRODUCT+2*(\i-2)(sp), r14
    sbc r13
    .endif
    mov #0x3531, MPY
    mov r14, OP2
    mov RESLO, r14
    mov r14, PRODUCT+2*\i(sp)
    mov #977, MPY
    mov r14, OP2
    mov RESHI, r12
    .if \i > 0
    sub r13, r12
    .endif
    .endr

    add_words PRODUCT
    sub PRODUCT+28(sp), r4
    subc PRODUCT+30(sp), r5
    .irp i, 6, 7, 8, 9, 10, 11
    sbc r\i
    .endr
    sbc r15
    sub r12, r4
    .irp i, 5, 6, 7, 8, 9, 10, 11
    sbc r\i
    .endr
    sbc r15
    mov OUT(sp), r12
    .irp i, 4, 5, 6, 7, 8, 9, 10, 11
    mov r\i, 2*(\i-4)(r12)
    .endr

    from_memory mov, mov, H+2*N
    mov r15, r13
    rla r13
    subc r13, r13
    inv r13                 /* the addend's sign */
    add r15, r4
    .irp i, 5, 6, 7, 8, 9, 10, 11
    addc r13, r\i
    .endr
    mov r13, r15
    adc r15
    add_words PRODUCT+2*N

    /* The result is below 2^256 + p: if it exceeds 256 bits, that counts 2^32 + 977. */
    clr r14
    sub r15, r14
    and #977, r14
    add r14, 0(r12)
    adc 2(r12)
    addc r15, 4(r12)
    .irp i, 3, 4, 5, 6, 7
    adc 2*\i(r12)
    .endr
    .irp i, 4, 5, 6, 7, 8, 9, 10, 11
    adc r\i
    mov r\i, 16+2*(\i-4)(r12)
    .endr
.endm

/* void secp256k1_multiply(uint16_t out[16], const uint16_t a[16], const uint16_t b[16]); */
function secp256k1_multiply
    enter
    multiply_parts
    combine add
    reduce
    leave

/* void secp256k1_square(uint16_t out[16], const uint16_t a[16]); */
function secp256k1_square
    enter
    square_parts
    combine sub
    reduce
    leave

/* Adds 2^32 + 977 to out, or subtracts it, by `instruction`, if the mask in r14 is all ones. */
.macro masked first, others, carry
    mov r14, r13
    and #977, r13
    mov r14, r15
    and #1, r15
    \first r13, 0(r12)
    \carry 2(r12)
    \others r15, 4(r12)
    .irp i, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14
    \carry 2*\i(r12)
    .endr
    \carry r11
.endm

/* void secp256k1_add(uint16_t out[16], const uint16_t a[16], const uint16_t b[16]); */
function secp256k1_add
    clrc
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14
    mov @r13+, r15
    addc @r14+, r15
    mov r15, 2*\i(r12)
    .endr
    mov @r13, r11
    addc @r14, r11
    subc r14, r14
    inv r14                 /* all ones if it exceeded 256 bits; again if it still does */
    masked add, addc, adc
    subc r14, r14
    inv r14
    masked add, addc, adc
    mov r11, 30(r12)
    ret

/* void secp256k1_subtract(uint16_t out[16], const uint16_t a[16], const uint16_t b[16]); */
function secp256k1_subtract
    setc
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14
    mov @r13+, r15
    subc @r14+, r15
    mov r15, 2*\i(r12)
    .endr
    mov @r13, r11
    subc @r14, r11
    subc r14, r14           /* all ones if it borrowed; again if one p was not enough */
    masked sub, subc, sbc
    subc r14, r14
    masked sub, subc, sbc
    mov r11, 30(r12)
    ret
