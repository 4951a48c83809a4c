; GHASH's multiplication for MSP430.
;
; void ghash_multiply_table(uint8_t *y, const uint16_t *table)
;   r12: 16 bytes, replaced by the product; r13: 16 multiples of H of eight words
;
; Processes y from its last four bits to its first: z = z x^4 + n H. z is in r4-r11, most
; significant word first; r14 multiple; r15 scratch.

#include "aead/gcm/gcm-reduction.h"

; z = z x^4, a shift to the right
.macro times_x4
        mov     r11, r15
        and     #15, r15
        add     r15, r15
        mov     reduction(r15), r15
        .rept 4
        bic     #1, r2
        rrc     r4
        rrc     r5
        rrc     r6
        rrc     r7
        rrc     r8
        rrc     r9
        rrc     r10
        rrc     r11
        .endr
        xor     r15, r4
.endm

; z = z + n H, where r14 = 16 n
.macro plus_multiple
        add     r13, r14
        xor     @r14+, r4
        xor     @r14+, r5
        xor     @r14+, r6
        xor     @r14+, r7
        xor     @r14+, r8
        xor     @r14+, r9
        xor     @r14+, r10
        xor     @r14+, r11
.endm

; By bytes: y may have an odd address.
.macro store r, at
        mov.b   \r, \at+1(r12)
        swpb    \r
        mov.b   \r, \at(r12)
.endm

        .section .text.ghash_multiply_table, "ax", @progbits
        .globl  ghash_multiply_table
        .type   ghash_multiply_table, @function
        .p2align 1
ghash_multiply_table:
        push    r4
        push    r5
        push    r6
        push    r7
        push    r8
        push    r9
        push    r10
        push    r12
        clr     r4
        clr     r5
        clr     r6
        clr     r7
        clr     r8
        clr     r9
        clr     r10
        clr     r11
        add     #15, r12
        jmp     low
byte:
        dec     r12
        times_x4
low:
        mov.b   @r12, r14
        and     #15, r14
        add     r14, r14
        add     r14, r14
        add     r14, r14
        add     r14, r14
        plus_multiple
        times_x4
        mov.b   @r12, r14
        and     #0xf0, r14
        plus_multiple
        cmp     0(r1), r12
        jne     byte

        store   r4, 0
        store   r5, 2
        store   r6, 4
        store   r7, 6
        store   r8, 8
        store   r9, 10
        store   r10, 12
        store   r11, 14
        add     #2, r1
        pop     r10
        pop     r9
        pop     r8
        pop     r7
        pop     r6
        pop     r5
        pop     r4
        ret
        .size   ghash_multiply_table, . - ghash_multiply_table

        .section .rodata.ghash_reduction, "a", @progbits
        .p2align 1
reduction:
        .word   GCM_REDUCTION
