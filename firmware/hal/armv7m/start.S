/* From reset to main. The core has loaded the stack pointer (ARM DDI 0403E, section B1.5.5). */
    .syntax unified
    .thumb

    .section .text.start, "ax", %progbits
    .p2align 2
    .global start
    .type start, %function
    .thumb_func
start:
    ldr     r0, =data_start
    ldr     r1, =data_load
    ldr     r2, =data_bytes
    bl      memcpy
    ldr     r0, =bss_start
    movs    r1, #0
    ldr     r2, =bss_bytes
    bl      memset
    bl      main

/* Nothing enables an interrupt: one that comes all the same, or a fault, stops here. */
    .global unexpected_interrupt
    .type unexpected_interrupt, %function
    .thumb_func
unexpected_interrupt:
    b       unexpected_interrupt
    .ltorg
    .size start, . - start
