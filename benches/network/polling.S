; A mote that never sleeps: it polls Timer_A, which counts the core's clock divided by 8.
    .global start
    .text
start:
    mov.w #0x5a80, &0x0120      ; WDTCTL: hold
    mov.w #0x02e0, &0x0160      ; TACTL: SMCLK / 8, continuous
    mov.b #0x80, &0x0056        ; DCOCTL: tap 4
    mov.b #0x87, &0x0057        ; BCSCTL1: range 7
1:  mov.w &0x0170, r4           ; TAR
    cmp.w #0x4000, r4
    jlo 1b
    add.w #1, r5
    jmp 1b
    .section .vectors, "a"
    .word start
