/* Shifts of 32 bits, r13:r12 by r14 (SLAA534, section 6.3). Only r12 to r14 change. */

    .section .text.__mspabi_slll, "ax", @progbits
    .p2align 1
    .global __mspabi_slll
    .type __mspabi_slll, @function
1:  rla     r12
    rlc     r13
__mspabi_slll:
    sub     #1, r14
    jc      1b
    ret
    .size __mspabi_slll, . - __mspabi_slll

    .section .text.__mspabi_srll, "ax", @progbits
    .p2align 1
    .global __mspabi_srll
    .type __mspabi_srll, @function
1:  clrc
    rrc     r13
    rrc     r12
__mspabi_srll:
    sub     #1, r14
    jc      1b
    ret
    .size __mspabi_srll, . - __mspabi_srll

    .section .text.__mspabi_sral, "ax", @progbits
    .p2align 1
    .global __mspabi_sral
    .type __mspabi_sral, @function
1:  rra     r13
    rrc     r12
__mspabi_sral:
    sub     #1, r14
    jc      1b
    ret
    .size __mspabi_sral, . - __mspabi_sral
