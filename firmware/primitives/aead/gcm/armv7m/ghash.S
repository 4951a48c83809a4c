/* GHASH's multiplication for ARMv7-M.

   void ghash_multiply_table(uint8_t *y, const uint32_t *table)
     r0: 16 bytes, replaced by the product; r1: 16 multiples of H of four words

   Processes y from its last four bits to its first: z = z x^4 + n H. z is in r4 to r7, most
   significant word first. */
    .syntax unified
    .thumb

#include "aead/gcm/gcm-reduction.h"

#define WORD r3 /* of y */
#define REDUCTION lr

/* n is the four bits of WORD from \bit on. */
.macro step bit
    and     r2, r7, #15
    ubfx    r12, WORD, #\bit, #4
    add     r12, r1, r12, lsl #4
    ldrh    r2, [REDUCTION, r2, lsl #1]
    ldm     r12, {r8-r11}
    eor     r11, r11, r7, lsr #4
    eor     r7, r11, r6, lsl #28
    eor     r10, r10, r6, lsr #4
    eor     r6, r10, r5, lsl #28
    eor     r9, r9, r5, lsr #4
    eor     r5, r9, r4, lsl #28
    eor     r8, r8, r4, lsr #4
    eor     r4, r8, r2, lsl #16
.endm

    .section .text.ghash_multiply_table, "ax", %progbits
    .global ghash_multiply_table
    .type ghash_multiply_table, %function
    .balign 4
    .thumb_func
ghash_multiply_table:
    push    {r0, r4-r11, lr}
    adr     REDUCTION, reduction
    add     r0, r0, #12
    mov     r4, #0
    mov     r5, #0
    mov     r6, #0
    mov     r7, #0
    .balign 4
1:
    ldr     WORD, [r0], #-4 /* next word of y, from the last to the first */
    rev.w   WORD, WORD
    .irp    bit, 0, 4, 8, 12, 16, 20, 24, 28
    step    \bit
    .endr
    ldr     r2, [sp]
    cmp     r0, r2
    bhs     1b

    rev     r4, r4
    rev     r5, r5
    rev     r6, r6
    rev     r7, r7
    str     r4, [r2]
    str     r5, [r2, #4]
    str     r6, [r2, #8]
    str     r7, [r2, #12]
    pop     {r0, r4-r11, pc}
    .balign 4
reduction:
    .hword  GCM_REDUCTION
    .size ghash_multiply_table, . - ghash_multiply_table
