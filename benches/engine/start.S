/* Where programs begin, and the shifts that the compiler calls by the MSP430 EABI (SLAA534, table 9): the value
 * in r12 (and r13), the distance in r13 (r14). */
    .section .text.start, "ax", @progbits
    .globl start, poll_counter, poll_slow_counter, poll_uart, poll_and_count, done
start:
    mov #compute, r10
begin:
    mov #0x3900, r1
    mov #0x5a80, &0x0120        ; the watchdog is held
    mov #0x1100, r4
1:
    clr 0(r4)
    incd r4
    cmp #0x3900, r4
    jne 1b
    br r10
compute:
    call #work
done:
    jmp done

/* Loops that poll a register for what never comes, with a limit, as drivers have it. Registers and
 * their bits: SLAU049F, sections 11.3 and 13.3; addresses: SLAS368G, peripheral file map. */
poll_counter:
    mov #0x0210, r5             ; TACTL: SMCLK, up mode
    jmp 1f
poll_slow_counter:
    mov #0x0110, r5             ; TACTL: ACLK, up mode
1:
    mov #2f, r10
    jmp begin
2:
    mov #0x7fff, &0x0172        ; TACCR0
    mov r5, &0x0160             ; TACTL
    mov #0x8000, r7             ; where the counter never comes to
    mov #60, r14
    clr r15
3:
    cmp &0x0170, r7             ; TAR
    jeq wrong
    dec r15
    jnz 3b
    dec r14
    jnz 3b
    jmp polled

poll_uart:
    mov #2f, r13
    jmp 1f
/* The same with the count in memory, so that no iteration can be left out. */
poll_and_count:
    mov #3f, r13
1:
    mov #1f, r10
    jmp begin
1:
    mov.b #0x20, &0x0071        ; U0TCTL: SMCLK
    mov.b #0x20, &0x0074        ; U0BR0
    mov.b #0xc0, &0x0004        ; ME1: transmitter and receiver
    mov.b #0x10, &0x0070        ; U0CTL: eight bits, no reset
    mov #60, r14
    clr r15
    br r13
2:
    bit.b #0x40, &0x0002        ; IFG1: URXIFG0
    jnz wrong
    dec r15
    jnz 2b
    dec r14
    jnz 2b
    jmp polled
3:
    bit.b #0x40, &0x0002
    jnz wrong
    dec &state
    jnz 3b
    dec r14
    jnz 3b
polled:
    mov #1, &state
wrong:
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
