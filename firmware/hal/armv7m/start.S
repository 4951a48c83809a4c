/* From reset to main. The core has already loaded the stack pointer (ARM DDI 0403E, section
   B1.5.5). */
    .syntax unified
    .thumb

    .section .text.start, "ax", %progbits
    .p2align 2
    .global start
    .type start, %function
    .thumb_func
start:
#ifdef __ARM_FP
    /* CPACR (section B3.2.20): allow access to coprocessors 10 and 11, the floating-point unit. */
    ldr     r0, =0xe000ed88
    ldr     r1, [r0]
    orr     r1, r1, #0xf00000
    str     r1, [r0]
    dsb
    isb
#endif
    ldr     r0, =data_start
    ldr     r1, =data_load
    ldr     r2, =data_bytes
    bl      memcpy
    ldr     r0, =bss_start
    movs    r1, #0
    ldr     r2, =bss_bytes
    bl      memset
    bl      main

/* No interrupt is enabled: an unexpected one, or a fault, stops here. */
    .global unexpected_interrupt
    .type unexpected_interrupt, %function
    .thumb_func
unexpected_interrupt:
    b       unexpected_interrupt
    .ltorg
    .size start, . - start
