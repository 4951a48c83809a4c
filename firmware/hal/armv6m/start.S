/* From the entry to main. The image is in RAM as it was loaded; a debugger that starts it here has
   loaded no stack pointer. */
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
    ldr     r0, =bss_start
    movs    r1, #0
    ldr     r2, =bss_end
    subs    r2, r2, r0
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
