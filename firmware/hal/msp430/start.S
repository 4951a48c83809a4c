/* From reset to main (SLAU049F, section 2.1: a reset leaves the stack pointer undefined). */
#include "chip.h"

    .section .text.start, "ax", @progbits
    .p2align 1
    .global start
    .type start, @function
start:
    mov     #0x5a80, &WDTCTL_ADDRESS    ; watchdog off (section 10.3)
    mov     #stack_top, r1
    mov     #data_start, r12
    mov     #data_load, r13
    mov     #data_bytes, r14
    call    #memcpy
    mov     #bss_start, r12
    clr     r13
    mov     #bss_bytes, r14
    call    #memset
    call    #main
    .size start, . - start

/* Whoever sleeps does so until this comes: back to it, awake, with interrupts off (section 2.3.1:
   the status register is on the stack). Taking the interrupt has cleared its flag where it has a
   vector of its own (sections 12.2.6 and 13.2.7); else the flag is the sleeper's to clear. */
    .weak wake                          ; a program that does more on it has its own
    .type wake, @function
wake:
    bic     #0x00d8, 0(r1)              ; SCG1, SCG0, CPUOFF, GIE
    reti
    .size wake, . - wake

/* Nothing enables another interrupt: one that comes all the same stops here. */
    .global unexpected_interrupt
    .type unexpected_interrupt, @function
unexpected_interrupt:
    jmp     unexpected_interrupt
    .size unexpected_interrupt, . - unexpected_interrupt
