/* The field of P-256 (SP 800-186, 3.2.1.3), p = 2^256 - 2^224 + 2^192 + 2^96 - 1, for an MSP430
   with a hardware multiplier. Elements are sixteen words, any number below 2^256, in Montgomery
   form: x 2^256 mod p stands for x. Every function takes the same time for all operands. */
.set N, 8
#include "field/multiply-msp430.S"

/* Applies the words from from(sp) on to the registers from r4 to r\last; the carry goes to r15. */
.macro chain first, others, carry, from, last
    .irp i, 4, 5, 6, 7, 8, 9, 10, 11
    .if \i == 4
    \first \from(sp), r\i
    .elseif \i <= \last
    \others \from+2*(\i-4)(sp), r\i
    .else
    \carry r\i
    .endif
    .endr
    \carry r15
.endm

/* Adds a small signed number to the registers; its sign goes to r13. */
.macro add_signed number
    mov \number, r13
    rla r13
    subc r13, r13
    inv r13
    add \number, r4
    .irp i, 5, 6, 7, 8, 9, 10, 11
    addc r13, r\i
    .endr
.endm

/* Reduces the product as combine leaves it, divided by 2^256 modulo p, to out (Montgomery, "Modular
   multiplication without trial division", 1985). Because p = -1 modulo 2^96, the lowest words, as
   updated, are themselves the multiple M of p that clears them: + 2^96 M + 2^192 M - 2^224 M +
   2^256 M. */
.macro reduce
    clr r14
    add PRODUCT(sp), PRODUCT+12(sp)
    .irp i, 1, 2, 3, 4, 5, 6, 7, 8, 9
    addc PRODUCT+2*\i(sp), PRODUCT+12+2*\i(sp)
    .endr
    adc r14
    add PRODUCT(sp), PRODUCT+24(sp)
    .irp i, 1, 2, 3
    addc PRODUCT+2*\i(sp), PRODUCT+24+2*\i(sp)
    .endr
    adc r14
    sub PRODUCT(sp), PRODUCT+28(sp)
    subc PRODUCT+2(sp), PRODUCT+30(sp)
    sbc r14

    add_signed r14
    addc r13, r15
    chain add, addc, adc, PRODUCT, 11
    chain add, addc, adc, PRODUCT+20, 9
    chain add, addc, adc, PRODUCT+8, 11
    chain sub, subc, sbc, PRODUCT+4, 11
    mov OUT(sp), r12
    .irp i, 4, 5, 6, 7, 8, 9, 10, 11
    mov r\i, 2*(\i-4)(r12)
    .endr

    from_memory mov, mov, H+2*N
    add_signed r15
    mov r13, r15
    adc r15
    chain add, addc, adc, PRODUCT+16, 11
    chain add, addc, adc, PRODUCT+24, 7
    chain sub, subc, sbc, PRODUCT+20, 9

    /* The result is below 2^256 + p: subtract p if it exceeds 256 bits. */
    clr r14
    sub r15, r14
    sub r14, 0(r12)
    .irp i, 1, 2, 3, 4, 5
    subc r14, 2*\i(r12)
    .endr
    sbc 12(r12)
    sbc 14(r12)
    sbc r4
    sbc r5
    sbc r6
    sbc r7
    subc r15, r8
    sbc r9
    subc r14, r10
    subc r14, r11
    .irp i, 4, 5, 6, 7, 8, 9, 10, 11
    mov r\i, 16+2*(\i-4)(r12)
    .endr
.endm

/* void p256_multiply(uint16_t out[16], const uint16_t a[16], const uint16_t b[16]); */
function p256_multiply
    enter
    multiply_parts
    combine add
    reduce
    leave

/* void p256_square(uint16_t out[16], const uint16_t a[16]); */
function p256_square
    enter
    square_parts
    combine sub
    reduce
    leave

/* Adds p to out, or subtracts it, by `instruction`, if the mask in r14 is all ones. */
.macro masked_p first, others, carry
    mov r14, r13
    and #1, r13
    \first r14, 0(r12)
    .irp i, 1, 2, 3, 4, 5
    \others r14, 2*\i(r12)
    .endr
    .irp i, 6, 7, 8, 9, 10, 11
    \carry 2*\i(r12)
    .endr
    \others r13, 24(r12)
    \carry 26(r12)
    \others r14, 28(r12)
    \others r14, r11
.endm

/* void p256_add(uint16_t out[16], const uint16_t a[16], const uint16_t b[16]); */
function p256_add
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
    masked_p sub, subc, sbc
    subc r15, r15
    bic r15, r14
    masked_p sub, subc, sbc
    mov r11, 30(r12)
    ret

/* void p256_subtract(uint16_t out[16], const uint16_t a[16], const uint16_t b[16]); */
function p256_subtract
    setc
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14
    mov @r13+, r15
    subc @r14+, r15
    mov r15, 2*\i(r12)
    .endr
    mov @r13, r11
    subc @r14, r11
    subc r14, r14           /* all ones if it borrowed; again if one p was not enough */
    masked_p add, addc, adc
    subc r15, r15
    and r15, r14
    masked_p add, addc, adc
    mov r11, 30(r12)
    ret
