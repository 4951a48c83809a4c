/* Products of 16-bit polynomials over GF(2) in the hardware multiplier of an MSP430, which no
   interrupt may use meanwhile, with integers in which only every fourth bit is set (method of
   Pornin, BearSSL, "Constant-Time Mul"). The multiplier adds up the products for each of the four
   sets of bits: only the lowest of four bits of the sum counts, so there is room for sums up to 15.
   Takes the same time for all operands. */

/* SLAU049F, chapter 7. A write to OP2 starts it. */
#define MPY &0x0130
#define MAC &0x0134
#define OP2 &0x0138
#define RESLO &0x013a
#define RESHI &0x013c

.macro first a, b
    mov \a, MPY
    mov \b, OP2
.endm

.macro next a, b
    mov \a, MAC
    mov \b, OP2
.endm

/* Moves one set of bits of the sum to the product. */
.macro quarter mask
    mov RESLO, r14
    mov RESHI, r15
    and #\mask, r14
    and #\mask, r15
    bis r14, r12
    bis r15, r13
.endm

/* uint32_t gf2_product_16(uint16_t a, uint16_t b); */
    .section .text.gf2_product_16, "ax", @progbits
    .weak gf2_product_16
    .type gf2_product_16, @function
    .p2align 1
gf2_product_16:
    push r4
    push r5
    push r6
    push r7
    push r8
    push r9
    push r10
    mov r12, r4
    mov r12, r5
    mov r12, r6
    and #0x1111, r4
    and #0x2222, r5
    and #0x4444, r6
    and #0x8888, r12
    mov r12, r7
    mov r13, r8
    mov r13, r9
    mov r13, r10
    and #0x1111, r8
    and #0x2222, r9
    and #0x4444, r10
    and #0x8888, r13
    mov r13, r11
    clr r12
    clr r13
    first r4, r8            /* at most 15: the other three are four bits higher */
    next r5, r11
    next r6, r10
    next r7, r9
    quarter 0x1111
    first r4, r9
    next r5, r8
    next r6, r11
    next r7, r10
    quarter 0x2222
    first r4, r10
    next r5, r9
    next r6, r8
    next r7, r11
    quarter 0x4444
    first r4, r11           /* all four at the same bits: the sum could be 16, one too many */
    next r5, r10
    next r6, r9
    mov RESLO, r14
    mov RESHI, r15
    first r7, r8
    xor RESLO, r14
    xor RESHI, r15
    and #0x8888, r14
    and #0x8888, r15
    bis r14, r12
    bis r15, r13
    pop r10
    pop r9
    pop r8
    pop r7
    pop r6
    pop r5
    pop r4
    ret
