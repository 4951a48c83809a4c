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

/* The interrupt that ends a sleep: return to the sleeper, awake and with interrupts off (section
   2.3.1: the status register is on the stack). Taking the interrupt clears a flag that has its own
   vector (sections 12.2.6 and 13.2.7); any other flag is for the sleeper to clear. */
    .weak wake                          ; a program that does more defines its own
    .type wake, @function
wake:
    bic     #0x00d8, 0(r1)              ; SCG1, SCG0, CPUOFF, GIE
    reti
    .size wake, . - wake

/* No other interrupt is enabled: an unexpected one stops here. */
    .global unexpected_interrupt
    .type unexpected_interrupt, @function
unexpected_interrupt:
    jmp     unexpected_interrupt
    .size unexpected_interrupt, . - unexpected_interrupt
