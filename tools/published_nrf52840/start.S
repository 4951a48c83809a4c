/* nRF52840: vectors, the floating-point unit and the cycle counter on, data to RAM, and the calls; then a branch to
 * itself. */
    .syntax unified
    .cpu cortex-m4
    .thumb
    .section .vectors, "a"
    .word 0x20005000
    .word start
    .text
    .type start, %function
    .globl start, done
start:
    ldr r0, =0xe000ed88
    ldr r1, [r0]
    orr r1, r1, #0xf00000
    str r1, [r0]
    dsb
    isb
    ldr r0, =0xe0001000
    movs r1, #1
    str r1, [r0]
    ldr r0, =data_load
    ldr r1, =data_start
    ldr r2, =data_end
1:
    ldr r3, [r0], #4
    str r3, [r1], #4
    cmp r1, r2
    blo 1b
    bl run
done:
    b done
    .ltorg
