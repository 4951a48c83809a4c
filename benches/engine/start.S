/* Reset, and the shifts that the compiler calls by the MSP430 EABI (SLAA534, table 9): the value
 * in r12 (and r13), the distance in r13 (r14). */
    .section .text.start, "ax", @progbits
    .globl start, done
start:
    mov #0x3900, r1
    mov #0x5a80, &0x0120        ; the watchdog is held
    mov #0x1100, r4
1:
    clr 0(r4)
    incd r4
    cmp #0x3900, r4
    jne 1b
    call #work
done:
    jmp done

    .text
    .macro shift name, distance, instructions:vararg
    .globl \name
\name:
    tst \distance
    jz 2f
1:
    \instructions
    dec \distance
    jnz 1b
2:
    ret
    .endm

    .macro left2
    rla r12
    rlc r13
    .endm
    .macro right2
    clrc
    rrc r13
    rrc r12
    .endm
    .macro right1
    clrc
    rrc r12
    .endm

    shift __mspabi_slll, r14, left2
    shift __mspabi_srll, r14, right2
    shift __mspabi_slli, r13, rla r12
    shift __mspabi_srli, r13, right1

    .section .vectors, "a", @progbits
    .short start
