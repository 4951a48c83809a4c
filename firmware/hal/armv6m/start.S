/* From the entry to main. A debugger that starts an image in RAM here has loaded no stack pointer, and
   its data is where it belongs. */
    .syntax unified
    .thumb

    .section .text.start, "ax", %progbits
    .p2align 2
    .global start
    .type start, %function
    .thumb_func
start:
    ldr     r0, =stack_top
    mov     sp, r0
    ldr     r0, =0xe000ed08 /* VTOR (ARM DDI 0419E, section B3.2.5) */
    ldr     r1, =vectors
    str     r1, [r0]
    ldr     r0, =data_start
    ldr     r1, =data_load
    ldr     r2, =data_bytes
    cmp     r0, r1
    beq     1f
    bl      memcpy
1:  ldr     r0, =bss_start
    movs    r1, #0
    ldr     r2, =bss_bytes
    bl      memset
    bl      main

/* No interrupt is taken: an unexpected one, or a fault, stops here. */
    .global unexpected_interrupt
    .type unexpected_interrupt, %function
    .thumb_func
unexpected_interrupt:
    b       unexpected_interrupt
    .ltorg
    .size start, . - start
