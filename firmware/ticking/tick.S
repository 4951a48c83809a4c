/* The tick of a system that counts time in software. It saves the registers that a C function may
   change. */
#include "chip.h"

    .text
    .global wake
    .type wake, @function
wake:
    push    r15
    push    r14
    push    r13
    push    r12
    push    r11
    call    #tick
    pop     r11
    bic     #0x00f0, 8(r1)  /* wake the sleeper: it waited for this */
    pop     r12
    pop     r13
    pop     r14
    pop     r15
    reti
    .size wake, . - wake
