/* Vectors and reset; the caller of the work ends in a branch to itself. */
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
    bl work
done:
    b done
