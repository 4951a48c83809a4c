/* The field of secp160r1 (SEC 2, version 1.0, 2.4.2), p = 2^160 - 2^31 - 1, for an MSP430 with a
   hardware multiplier. Elements are ten words, any number below 2^160, in Montgomery form: x 2^160
   mod p stands for x. Every function takes the same time for all operands. */
.set N, 5
#include "field/multiply-msp430.S"

/* Reduces the product as combine leaves it, divided by 2^160 modulo p, to out (Montgomery, "Modular
   multiplication without trial division", 1985). M with M + 2^31 M = the low half L modulo 2^160
   clears that half: the result is the high half + M - (M + 2^31 M - L) / 2^160. Word i of 2^31 M
   consists of words i - 1 and i - 2 of M. */
.macro reduce
    mov PRODUCT(sp), r12
    rra r12
    clr r14
    rrc r14
    sub r14, PRODUCT+2(sp)
    .irp i, 2, 3, 4, 5, 6, 7, 8, 9
    subc r13, r13
    inv r13                 /* all ones if there was no borrow */
    mov PRODUCT+2*(\i-1)(sp), r12
    rra r12
    mov PRODUCT+2*(\i-2)(sp), r14
    rrc r14
    rla r13
    subc r14, PRODUCT+2*\i(sp)
    .endr
    subc r13, r13
    mov PRODUCT+18(sp), r10
    mov r10, r12
    rra r12
    mov PRODUCT+16(sp), r9
    rrc r9
    clrc
    rrc r10
    and #1, r13
    add r13, r9
    adc r10

    clr r14
    add PRODUCT(sp), r4
    addc PRODUCT+2(sp), r5
    addc PRODUCT+4(sp), r6
    addc PRODUCT+6(sp), r7
    addc PRODUCT+8(sp), r8
    adc r14
    sub r9, r4
    subc r10, r5
    sbc r6
    sbc r7
    sbc r8
    sbc r14
    mov OUT(sp), r12
    .irp i, 4, 5, 6, 7, 8
    mov r\i, 2*(\i-4)(r12)
    .endr
    from_memory mov, mov, H+2*N
    add r14, r15
    mov r15, r13
    rla r13
    subc r13, r13
    inv r13                 /* the addend's sign */
    add r15, r4
    .irp i, 5, 6, 7, 8
    addc r13, r\i
    .endr
    mov r13, r15
    adc r15
    from_memory add, addc, PRODUCT+2*N
    adc r15

    /* The result is below 2^160 + p: if it exceeds 160 bits, that counts 2^31 + 1. */
    mov r15, r14
    rra r14
    clr r14
    rrc r14
    add r15, 0(r12)
    addc r14, 2(r12)
    adc 4(r12)
    adc 6(r12)
    adc 8(r12)
    .irp i, 4, 5, 6, 7, 8
    adc r\i
    mov r\i, 2*(\i+1)(r12)
    .endr
.endm

/* void secp160r1_multiply(uint16_t out[10], const uint16_t a[10], const uint16_t b[10]); */
function secp160r1_multiply
    enter
    multiply_parts
    combine add
    reduce
    leave

/* void secp160r1_square(uint16_t out[10], const uint16_t a[10]); */
function secp160r1_square
    enter
    square_parts
    combine sub
    reduce
    leave

/* Adds 2^31 + 1 to out, or subtracts it, by `instruction`, if the mask in r14 is all ones. */
.macro masked first, others, carry
    mov r14, r13
    and #0x8000, r13
    mov r14, r15
    and #1, r15
    \first r15, 0(r12)
    \others r13, 2(r12)
    .irp i, 2, 3, 4, 5, 6, 7, 8
    \carry 2*\i(r12)
    .endr
    \carry r11
.endm

/* void secp160r1_add(uint16_t out[10], const uint16_t a[10], const uint16_t b[10]); */
function secp160r1_add
    clrc
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8
    mov @r13+, r15
    addc @r14+, r15
    mov r15, 2*\i(r12)
    .endr
    mov @r13, r11
    addc @r14, r11
    subc r14, r14
    inv r14                 /* all ones if it exceeded 160 bits; again if it still does */
    masked add, addc, adc
    subc r15, r15
    bic r15, r14
    masked add, addc, adc
    mov r11, 18(r12)
    ret

/* void secp160r1_subtract(uint16_t out[10], const uint16_t a[10], const uint16_t b[10]); */
function secp160r1_subtract
    setc
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8
    mov @r13+, r15
    subc @r14+, r15
    mov r15, 2*\i(r12)
    .endr
    mov @r13, r11
    subc @r14, r11
    subc r14, r14           /* all ones if it borrowed; again if one p was not enough */
    masked sub, subc, sbc
    subc r15, r15
    and r15, r14
    masked sub, subc, sbc
    mov r11, 18(r12)
    ret
