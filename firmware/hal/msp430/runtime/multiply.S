/* Multiplication with the 16 x 16 hardware multiplier (SLAU049F, chapter 7). Names and registers
   are those of the MSP430 EABI (SLAA534, section 6.3), except for the 64-bit product, which clang
   calls like a C function: second operand and up on the stack. The multiplier's state is not saved,
   because no interrupt uses it. Only r11 to r15 change. */
#include "chip.h"

/* r12 = r12 * r13 */
    .section .text.__mspabi_mpyi_hw, "ax", @progbits
    .p2align 1
    .global __mspabi_mpyi_hw
    .type __mspabi_mpyi_hw, @function
__mspabi_mpyi_hw:
    mov     r12, &MPY_ADDRESS
    mov     r13, &OP2_ADDRESS
    mov     &RESLO_ADDRESS, r12
    ret
    .size __mspabi_mpyi_hw, . - __mspabi_mpyi_hw

/* r13:r12 = r13:r12 * r15:r14 */
    .section .text.__mspabi_mpyl_hw, "ax", @progbits
    .p2align 1
    .global __mspabi_mpyl_hw
    .type __mspabi_mpyl_hw, @function
__mspabi_mpyl_hw:
    mov     r12, &MPY_ADDRESS
    mov     r14, &OP2_ADDRESS
    mov     r12, &MAC_ADDRESS
    mov     &RESLO_ADDRESS, r12
    mov     &RESHI_ADDRESS, &RESLO_ADDRESS
    mov     r15, &OP2_ADDRESS
    mov     r13, &MAC_ADDRESS
    mov     r14, &OP2_ADDRESS
    mov     &RESLO_ADDRESS, r13
    ret
    .size __mspabi_mpyl_hw, . - __mspabi_mpyl_hw

/* r15:r14:r13:r12 = r15:r14:r13:r12 * the 64 bits at 2(r1), by columns of equal weight. */
    .section .text.__mspabi_mpyll_hw, "ax", @progbits
    .p2align 1
    .global __mspabi_mpyll_hw
    .type __mspabi_mpyll_hw, @function
__mspabi_mpyll_hw:
    push    r10
    mov     r12, &MPY_ADDRESS
    mov     4(r1), &OP2_ADDRESS
    mov     &RESLO_ADDRESS, r10             ; word 0

    mov     &RESHI_ADDRESS, &RESLO_ADDRESS
    clr     &RESHI_ADDRESS
    mov     r12, &MAC_ADDRESS
    mov     6(r1), &OP2_ADDRESS             ; cannot carry: 0xffff + 0xffff * 0xffff < 2^32
    mov     r13, &MAC_ADDRESS
    mov     4(r1), &OP2_ADDRESS
    mov     &RESLO_ADDRESS, r11             ; word 1

    mov     &RESHI_ADDRESS, &RESLO_ADDRESS
    mov     &SUMEXT_ADDRESS, &RESHI_ADDRESS
    mov     r12, &MAC_ADDRESS
    mov     8(r1), &OP2_ADDRESS
    mov     r13, &MAC_ADDRESS
    mov     6(r1), &OP2_ADDRESS
    mov     r14, &MAC_ADDRESS
    mov     4(r1), &OP2_ADDRESS

    mov     r14, &MAC_ADDRESS               ; r14's factor is not needed after this
    mov     &RESLO_ADDRESS, r14             ; word 2
    mov     &RESHI_ADDRESS, &RESLO_ADDRESS
    mov     6(r1), &OP2_ADDRESS
    mov     r12, &MAC_ADDRESS
    mov     10(r1), &OP2_ADDRESS
    mov     r13, &MAC_ADDRESS
    mov     8(r1), &OP2_ADDRESS
    mov     r15, &MAC_ADDRESS
    mov     4(r1), &OP2_ADDRESS
    mov     &RESLO_ADDRESS, r15             ; word 3

    mov     r10, r12
    mov     r11, r13
    pop     r10
    ret
    .size __mspabi_mpyll_hw, . - __mspabi_mpyll_hw
