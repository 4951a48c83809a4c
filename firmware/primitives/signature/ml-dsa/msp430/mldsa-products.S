/* Products by the 16 x 16 hardware multiplier (SLAU049, chapter 7), as mldsa-multiplier.h says. */

#define MPY 0x130
#define MPYS 0x132
#define MAC 0x134
#define OP2 0x138
#define RESLO 0x13a
#define RESHI 0x13c

    .section .text.mldsa_products, "ax", %progbits
    .global mldsa_times_root
    .type   mldsa_times_root, @function
/* int32_t mldsa_times_root(int32_t a, unsigned root) */
mldsa_times_root:
    add     r14, r14
    mov     mldsa_root_shares(r14), r11
    add     r14, r14
    mov     r11, &MPYS
    mov     mldsa_roots(r14), r15
    mov     mldsa_roots+2(r14), r14

/* r13:r12 times r14:r15, whose share is in MPYS: r13:r12. */
.Ltimes:
    push    r10
    push    r9
    mov     r12, r10            /* (a + 2^8) / 2^9: 16 bits and, in the carry, the sign */
    mov     r13, r9
    add     #256, r10
    adc     r9
    swpb    r10
    mov.b   r10, r10
    mov.b   r9, r11
    swpb    r11
    bis     r11, r10
    bit     #0x100, r9
    rrc     r10
    mov     r10, &OP2
    mov     &RESLO, r10
    mov     &RESHI, r9
    rla     r10
    rlc     r9
    swpb    r10                 /* the quotient, that by 2^7: r9:r10 */
    mov.b   r10, r10
    mov.b   r9, r11
    swpb    r11
    bis     r11, r10
    swpb    r9
    sxt     r9
    mov     r12, &MPY           /* the upper half of a product less q times the quotient */
    mov     r14, &OP2
    mov     r13, &MAC
    mov     r15, &OP2
    mov     r10, &MAC
    mov     #0xff80, &OP2
    mov     r9, &MAC
    mov     #0x1fff, &OP2
    mov     &RESLO, r13
    mov     r12, &MPY           /* the lower half, and what it carries */
    mov     r15, &OP2
    mov     r10, &MAC
    mov     #0x1fff, &OP2
    mov     &RESLO, r12
    add     &RESHI, r13
    pop     r9
    pop     r10

    .global mldsa_kept_small
    .type   mldsa_kept_small, @function
/* int32_t mldsa_kept_small(int32_t a) */
mldsa_kept_small:
    add     #64, r13            /* the upper half less a multiple of 128, */
    mov     r13, &MPYS
    mov     #512, &OP2
    and     #127, r13
    sub     #64, r13
    mov     &RESHI, &MPYS       /* and that multiple, t 2^23, gives t 2^13 - t */
    mov     #0x1fff, &OP2
    add     &RESLO, r12
    addc    &RESHI, r13
    ret
    .size   mldsa_times_root, . - mldsa_times_root
    .size   mldsa_kept_small, . - mldsa_kept_small

    .global mldsa_product
    .type   mldsa_product, @function
/* int32_t mldsa_product(int32_t a, int32_t b), where b is between -q/2 and q/2 */
mldsa_product:
    push    r10
    mov     r14, r11            /* the share of b: (b + 32) / 2^7 + b / 2^17 */
    mov     r15, r10
    add     #32, r11
    adc     r10
    mov     #512, &MPY
    mov     r11, &OP2
    mov     &RESHI, r11
    mov     r10, &OP2
    add     &RESLO, r11
    mov     r15, r10
    rra     r10
    add     r10, r11
    mov     r11, &MPYS
    mov     r14, r10
    mov     r15, r14
    mov     r10, r15
    pop     r10
    jmp     .Ltimes
    .size   mldsa_product, . - mldsa_product
