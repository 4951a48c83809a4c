/* STM32F103: vectors, data to RAM, the cycle counter, and the calls; then a branch to itself. */
    .syntax unified
    .cpu cortex-m3
    .thumb
    .section .vectors, "a"
    .word 0x20005000
    .word start
    .text
    .thumb_func
    .globl start, done
start:
    ldr r0, =data_load
    ldr r1, =data_start
    ldr r2, =data_end
1:
    ldr r3, [r0], #4
    str r3, [r1], #4
    cmp r1, r2
    blo 1b
    ldr r0, =0xe0001000
    movs r1, #1
    str r1, [r0]
    bl run
done:
    b done
    .ltorg
