/* Division and remainder, one bit of the quotient per iteration. Names and registers are those of
   the MSP430 EABI (SLAA534, section 6.3): operands in r12 and r13, in r13:r12 and r15:r14, or in
   r11:r8 and r15:r12; the result in r12 and up. r4 to r10 are preserved. A signed quotient is
   rounded towards zero; a signed remainder has the dividend's sign. */

.macro NEGATE low, more:vararg
    inv     \low
    .irp register, \more
    inv     \register
    .endr
    inc     \low
    .irp register, \more
    adc     \register
    .endr
.endm

.macro ABSOLUTE high, registers:vararg
    tst     \high
    jge     1f
    NEGATE  \registers
1:
.endm

/* Each helper has its own section. */
.macro HELPER name
    .section .text.\name, "ax", @progbits
    .p2align 1
    .global \name
    .type \name, @function
\name:
.endm

.macro END name
    .size \name, . - \name
.endm

/* 16 bits; also r14 = remainder. Preserves r11. */
HELPER __mspabi_divu
    clr     r14
    mov     #16, r15
1:  rla     r12
    rlc     r14
    jc      2f
    cmp     r13, r14
    jlo     3f
2:  sub     r13, r14
    bis     #1, r12
3:  dec     r15
    jnz     1b
    ret
END __mspabi_divu

HELPER __mspabi_remu
    call    #__mspabi_divu
    mov     r14, r12
    ret
END __mspabi_remu

HELPER __mspabi_divi
    mov     r12, r11
    xor     r13, r11
    ABSOLUTE r12, r12
    ABSOLUTE r13, r13
    call    #__mspabi_divu
    tst     r11
    jge     1f
    NEGATE  r12
1:  ret
END __mspabi_divi

HELPER __mspabi_remi
    mov     r12, r11
    ABSOLUTE r12, r12
    ABSOLUTE r13, r13
    call    #__mspabi_divu
    mov     r14, r12
    tst     r11
    jge     1f
    NEGATE  r12
1:  ret
END __mspabi_remi

/* 32 bits; also r15:r14 = remainder. */
HELPER __mspabi_divul
    push    r10
    push    r9
    clr     r10
    clr     r11
    mov     #32, r9
1:  rla     r12
    rlc     r13
    rlc     r10
    rlc     r11
    jc      2f
    cmp     r15, r11
    jlo     3f
    jne     2f
    cmp     r14, r10
    jlo     3f
2:  sub     r14, r10
    subc    r15, r11
    bis     #1, r12
3:  dec     r9
    jnz     1b
    mov     r10, r14
    mov     r11, r15
    pop     r9
    pop     r10
    ret
END __mspabi_divul

HELPER __mspabi_remul
    call    #__mspabi_divul
    mov     r14, r12
    mov     r15, r13
    ret
END __mspabi_remul

HELPER __mspabi_divli
    push    r13
    xor     r15, 0(r1)
    ABSOLUTE r13, r12, r13
    ABSOLUTE r15, r14, r15
    call    #__mspabi_divul
    pop     r14
    tst     r14
    jge     1f
    NEGATE  r12, r13
1:  ret
END __mspabi_divli

HELPER __mspabi_remli
    push    r13
    ABSOLUTE r13, r12, r13
    ABSOLUTE r15, r14, r15
    call    #__mspabi_divul
    mov     r14, r12
    mov     r15, r13
    pop     r14
    tst     r14
    jge     1f
    NEGATE  r12, r13
1:  ret
END __mspabi_remli

/* 64 bits, the loop: r11:r8 = r11:r8 / r15:r12, r7:r4 = remainder. */
HELPER joulemark_divide_64
    clr     r4
    clr     r5
    clr     r6
    clr     r7
    push    #64
1:  rla     r8
    rlc     r9
    rlc     r10
    rlc     r11
    rlc     r4
    rlc     r5
    rlc     r6
    rlc     r7
    jc      2f
    cmp     r15, r7
    jlo     3f
    jne     2f
    cmp     r14, r6
    jlo     3f
    jne     2f
    cmp     r13, r5
    jlo     3f
    jne     2f
    cmp     r12, r4
    jlo     3f
2:  sub     r12, r4
    subc    r13, r5
    subc    r14, r6
    subc    r15, r7
    bis     #1, r8
3:  dec     0(r1)
    jnz     1b
    incd    r1
    ret
END joulemark_divide_64

.macro SAVE
    push    r10
    push    r9
    push    r8
    push    r7
    push    r6
    push    r5
    push    r4
.endm

.macro RETURN a, b, c, d
    mov     \a, r12
    mov     \b, r13
    mov     \c, r14
    mov     \d, r15
    pop     r4
    pop     r5
    pop     r6
    pop     r7
    pop     r8
    pop     r9
    pop     r10
    ret
.endm

HELPER __mspabi_divull
    SAVE
    call    #joulemark_divide_64
    RETURN  r8, r9, r10, r11
END __mspabi_divull

HELPER __mspabi_remull
    SAVE
    call    #joulemark_divide_64
    RETURN  r4, r5, r6, r7
END __mspabi_remull

HELPER __mspabi_divlli
    SAVE
    push    r11
    xor     r15, 0(r1)
    ABSOLUTE r11, r8, r9, r10, r11
    ABSOLUTE r15, r12, r13, r14, r15
    call    #joulemark_divide_64
    pop     r12
    tst     r12
    jge     1f
    NEGATE  r8, r9, r10, r11
1:  RETURN  r8, r9, r10, r11
END __mspabi_divlli

HELPER __mspabi_remlli
    SAVE
    push    r11
    ABSOLUTE r11, r8, r9, r10, r11
    ABSOLUTE r15, r12, r13, r14, r15
    call    #joulemark_divide_64
    pop     r12
    tst     r12
    jge     1f
    NEGATE  r4, r5, r6, r7
1:  RETURN  r4, r5, r6, r7
END __mspabi_remlli
