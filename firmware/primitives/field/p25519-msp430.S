/* The field of 2^255 - 19 elements (RFC 7748) for an MSP430 with a hardware multiplier. Elements
   are sixteen words, any number below 2^256: 2^256 = 38. Every function takes the same time for all
   operands. */
.set N, 8
#include "field/multiply-msp430.S"

/* Reduces the product as combine leaves it modulo 2^256 - 38, to out. Each word of 38 times the
   high half is its own RESLO plus the previous word's RESHI. */
.macro reduce
    mov #38, MPY
    mov r4, OP2
    mov RESLO, r14
    mov RESHI, r4
    mov r5, OP2
    add RESLO, r4
    mov RESHI, r5
    mov r6, OP2
    addc RESLO, r5
    mov RESHI, r6
    mov r7, OP2
    addc RESLO, r6
    mov RESHI, r7
    mov r8, OP2
    addc RESLO, r7
    mov RESHI, r8
    mov r9, OP2
    addc RESLO, r8
    mov RESHI, r9
    mov r10, OP2
    addc RESLO, r9
    mov RESHI, r10
    mov r11, OP2
    addc RESLO, r10
    mov RESHI, r11
    adc r11
    mov OUT(sp), r12
    add PRODUCT(sp), r14
    mov r14, 0(r12)
    .irp i, 4, 5, 6, 7, 8, 9, 10
    addc PRODUCT+2*(\i-3)(sp), r\i
    mov r\i, 2*(\i-3)(r12)
    .endr
    adc r11

    mov r15, OP2
    add RESLO, r11
    mov H+2*N(sp), OP2
    add RESLO, r11
    mov RESHI, r4
    mov H+2*N+2(sp), OP2
    addc RESLO, r4
    mov RESHI, r5
    mov H+2*N+4(sp), OP2
    addc RESLO, r5
    mov RESHI, r6
    mov H+2*N+6(sp), OP2
    addc RESLO, r6
    mov RESHI, r7
    mov H+2*N+8(sp), OP2
    addc RESLO, r7
    mov RESHI, r8
    mov H+2*N+10(sp), OP2
    addc RESLO, r8
    mov RESHI, r9
    mov H+2*N+12(sp), OP2
    addc RESLO, r9
    mov RESHI, r10
    mov H+2*N+14(sp), OP2
    addc RESLO, r10
    mov RESHI, r13
    adc r13
    add PRODUCT+2*N(sp), r11
    .irp i, 4, 5, 6, 7, 8, 9, 10
    addc PRODUCT+2*N+2*(\i-3)(sp), r\i
    .endr
    adc r13

    /* Fold what is above 2^256 once more; if that exceeds 256 bits, the rest is small. */
    mov r13, OP2
    add RESLO, 0(r12)
    .irp i, 1, 2, 3, 4, 5, 6, 7
    adc 2*\i(r12)
    .endr
    .irp i, 11, 4, 5, 6, 7, 8, 9, 10
    adc r\i
    .endr
    subc r13, r13
    mov #38, r14
    bic r13, r14            /* 38 if a carry is left */
    add r14, 0(r12)
    mov r11, 16(r12)
    .irp i, 4, 5, 6, 7, 8, 9, 10
    mov r\i, 16+2*(\i-3)(r12)
    .endr
.endm

/* void p25519_multiply(uint16_t out[16], const uint16_t a[16], const uint16_t b[16]); */
function p25519_multiply
    enter
    multiply_parts
    combine add
    reduce
    leave

/* void p25519_square(uint16_t out[16], const uint16_t a[16]); */
function p25519_square
    enter
    square_parts
    combine sub
    reduce
    leave

/* void p25519_add(uint16_t out[16], const uint16_t a[16], const uint16_t b[16]); */
function p25519_add
    clrc
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    mov @r13+, r15
    addc @r14+, r15
    .if \i == 15
    mov r15, r11
    .else
    mov r15, 2*\i(r12)
    .endif
    .endr
    subc r15, r15
    mov #38, r14
    bic r15, r14
    add r14, 0(r12)
    .irp i, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14
    adc 2*\i(r12)
    .endr
    adc r11
    mov r11, 30(r12)
    subc r15, r15
    bic r15, r14            /* again if a carry is left */
    add r14, 0(r12)
    ret

/* void p25519_subtract(uint16_t out[16], const uint16_t a[16], const uint16_t b[16]); */
function p25519_subtract
    setc
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    mov @r13+, r15
    subc @r14+, r15
    .if \i == 15
    mov r15, r11
    .else
    mov r15, 2*\i(r12)
    .endif
    .endr
    subc r14, r14           /* all ones if it borrowed: subtract 38, and again if that borrows */
    and #38, r14
    sub r14, 0(r12)
    .irp i, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14
    sbc 2*\i(r12)
    .endr
    sbc r11
    mov r11, 30(r12)
    subc r15, r15
    and r15, r14
    sub r14, 0(r12)
    ret

/* void p25519_multiply_a24(uint16_t out[16], const uint16_t a[16])

   out = 121665 a; 121665 = 2^16 + 56129. */
function p25519_multiply_a24
    push r10
    mov #56129, MPY
    clr r14                 /* RESHI of the previous word, at most 56128, and carries */
    clr r11                 /* the previous word */
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7
    mov @r13+, r10
    mov r10, OP2
    add RESLO, r14
    mov RESHI, r15
    adc r15
    add r11, r14
    adc r15
    mov r14, 4*\i(r12)
    mov @r13+, r11
    mov r11, OP2
    add RESLO, r15
    mov RESHI, r14
    adc r14
    add r10, r15
    adc r14
    mov r15, 4*\i+2(r12)
    .endr
    mov #38, MPY
    mov r14, OP2
    mov #38, MAC
    mov r11, OP2
    add RESLO, 0(r12)
    addc RESHI, 2(r12)
    .irp i, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    adc 2*\i(r12)
    .endr
    subc r15, r15
    mov #38, r14
    bic r15, r14
    add r14, 0(r12)
    adc 2(r12)
    pop r10
    ret

/* void p25519_swap(uint16_t a[32], uint16_t b[32], uint32_t mask)

   Swaps if mask is all ones, not if it is 0. */
function p25519_swap
    mov #4, r15
1:  .rept 8
    mov @r12+, r11
    xor @r13+, r11
    and r14, r11
    xor r11, -2(r12)
    xor r11, -2(r13)
    .endr
    dec r15
    jnz 1b
    ret
