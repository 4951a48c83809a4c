/* Products and squares of 2 N-word numbers, giving 4 N words of 16 bits, in the hardware multiplier
   of an MSP430, which no interrupt may use meanwhile. The including file has set N, at most 8. One
   level of Karatsuba's method with absolute differences ("Multiplication of multidigit numbers on
   automata", 1963): a0 b0 = L, a1 b1 = H, and a0 b1 + a1 b0 = L + H - (a0 - a1) (b0 - b1). */

/* SLAU049F, chapter 7. A write to OP2 starts it. */
#define MPY &0x0130
#define MAC &0x0134
#define OP2 &0x0138
#define RESLO &0x013a
#define RESHI &0x013c
#define SUMEXT &0x013e

/* The frame, from sp on: L and H, which become the product, M = |a0 - a1| |b0 - b1|, |b0 - b1|, and
   all ones if M is subtracted. */
.set PRODUCT, 0
.set H, 4*N
.set M, 8*N
.set DIFFERENCE, 12*N
.set MASK, 14*N
.set A, 14*N+2
.set B, 14*N+4
.set OUT, 14*N+6
.set FRAME_BYTES, 14*N+8

.macro function name
    .section .text.\name, "ax", @progbits
    .weak \name
    .type \name, @function
    .p2align 1
\name:
.endm

.macro enter
    push r4
    push r5
    push r6
    push r7
    push r8
    push r9
    push r10
    sub #FRAME_BYTES, sp
    mov r12, OUT(sp)
    mov r13, A(sp)
.endm

.macro leave
    add #FRAME_BYTES, sp
    pop r10
    pop r9
    pop r8
    pop r7
    pop r6
    pop r5
    pop r4
    ret
.endm

/* The multiplicand is in the N registers from r4 on. */
.macro each_word instruction, operand
    .irp i, 4, 5, 6, 7, 8, 9, 10, 11
    .if \i < 4+N
    \instruction \operand, r\i
    .endif
    .endr
.endm

.macro from_memory first, others, offset
    .irp i, 4, 5, 6, 7, 8, 9, 10, 11
    .if \i == 4
    \first \offset(sp), r\i
    .elseif \i < 4+N
    \others \offset+2*(\i-4)(sp), r\i
    .endif
    .endr
.endm

/* x0 - x1|, from the number at r15, to the registers; r12 is all ones if x0 - x1 is negative. */
.macro difference
    each_word mov, @r15+
    .irp i, 4, 5, 6, 7, 8, 9, 10, 11
    .if \i == 4
    sub @r15+, r\i
    .elseif \i < 4+N
    subc @r15+, r\i
    .endif
    .endr
    subc r12, r12
    each_word xor, r12
    mov r12, r13
    rla r13
    each_word addc, #0
.endm

/* mov @r15+, OP2, which LLVM's assembler does not support: SLAU049F, 3.4.1. */
.macro next_to_op2
    .word 0x4fb2, 0x0138
.endm

/* Adds the sum so far, in low and high from this column on; next takes the carry of the sum of
   products. */
.macro end_column low, high, next
    add RESLO, \low
    addc RESHI, \high
    adc \next
.endm

/* Column k of the product of the registers with the words at r15. The first product needs no
   SUMEXT. */
.macro column k, low, high, next, to, mask
    .set COUNT, 0
    .irp j, 0, 1, 2, 3, 4, 5, 6, 7
    .irp i, 4, 5, 6, 7, 8, 9, 10, 11
    .if \i-4+\j == \k && \i < 4+N && \j < N
    .if COUNT == 0
    mov r\i, MPY
    next_to_op2
    .elseif COUNT == 1
    mov r\i, MAC
    next_to_op2
    mov SUMEXT, \next
    .else
    mov r\i, MAC
    next_to_op2
    add SUMEXT, \next
    .endif
    .set COUNT, COUNT+1
    .endif
    .endr
    .endr
    .if COUNT == 1
    clr \next
    .endif
    .if \k < N-1
    sub #2*COUNT, r15
    .else
    sub #2*(COUNT-1), r15
    .endif
    .if \k == 0
    mov RESLO, \low
    mov RESHI, \high
    .else
    end_column \low, \high, \next
    .endif
    .ifnb \mask
    xor \mask, \low
    .endif
    mov \low, \to+2*\k(sp)
    .if \k == 2*N-2
    .ifnb \mask
    xor \mask, \high
    .endif
    mov \high, \to+2*\k+2(sp)
    .endif
.endm

/* Multiplies the registers by the N words at r15, XOR mask if there is one. */
.macro multiply_half to, mask
    .irp k, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14
    .if \k < 2*N-1
    .if \k % 3 == 0
    column \k, r12, r13, r14, \to, \mask
    .elseif \k % 3 == 1
    column \k, r13, r14, r12, \to, \mask
    .else
    column \k, r14, r12, r13, \to, \mask
    .endif
    .endif
    .endr
.endm

/* Column k of the registers' square: products of two different words are added twice, then a
   square. */
.macro square_column k, low, high, next, to
    .set COUNT, 0
    .irp i, 4, 5, 6, 7, 8, 9, 10, 11
    .irp j, 4, 5, 6, 7, 8, 9, 10, 11
    .if \i < \j && \i-4+\j-4 == \k && \j < 4+N
    .if COUNT == 0
    mov r\i, MPY
    mov r\j, OP2
    .elseif COUNT == 1
    mov r\i, MAC
    mov r\j, OP2
    mov SUMEXT, \next
    .else
    mov r\i, MAC
    mov r\j, OP2
    add SUMEXT, \next
    .endif
    .set COUNT, COUNT+1
    .endif
    .endr
    .endr
    .if COUNT < 2
    clr \next
    .else
    rla \next
    .endif
    .if COUNT > 0
    mov RESLO, r15
    add r15, \low
    addc RESHI, \high
    adc \next
    add r15, \low
    addc RESHI, \high
    adc \next
    .endif
    .irp i, 4, 5, 6, 7, 8, 9, 10, 11
    .if 2*(\i-4) == \k
    mov r\i, MPY
    mov r\i, OP2
    .if \k == 0
    mov RESLO, \low
    mov RESHI, \high
    .else
    end_column \low, \high, \next
    .endif
    .endif
    .endr
    mov \low, \to+2*\k(sp)
    .if \k == 2*N-2
    mov \high, \to+2*\k+2(sp)
    .endif
.endm

.macro square_half to
    .irp k, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14
    .if \k < 2*N-1
    .if \k % 3 == 0
    square_column \k, r12, r13, r14, \to
    .elseif \k % 3 == 1
    square_column \k, r13, r14, r12, \to
    .else
    square_column \k, r14, r12, r13, \to
    .endif
    .endif
    .endr
.endm

/* L, H, and M or its complement, from the words at r13 and r14. */
.macro multiply_parts
    mov r14, B(sp)
    mov r14, r15
    difference
    .irp i, 4, 5, 6, 7, 8, 9, 10, 11
    .if \i < 4+N
    mov r\i, DIFFERENCE+2*(\i-4)(sp)
    .endif
    .endr
    mov r12, MASK(sp)
    mov A(sp), r15
    each_word mov, @r15+
    mov B(sp), r15
    multiply_half PRODUCT
    mov A(sp), r15
    add #2*N, r15
    each_word mov, @r15+
    mov B(sp), r15
    add #2*N, r15
    multiply_half H
    mov A(sp), r15
    difference
    inv r12
    xor r12, MASK(sp)       /* same sign: M is subtracted */
    mov sp, r15
    add #DIFFERENCE, r15
    multiply_half M, MASK(sp)
.endm

.macro square_parts
    mov r13, r15
    each_word mov, @r15+
    square_half PRODUCT
    mov A(sp), r15
    add #2*N, r15
    each_word mov, @r15+
    square_half H
    mov A(sp), r15
    difference
    square_half M
.endm

/* The product's quarters: two at PRODUCT, the third in the registers, the fourth at H + 2 N, to
   which r15 is still to be added. instruction applies M: add or sub. */
.macro combine instruction
    from_memory mov, mov, PRODUCT+2*N
    from_memory add, addc, H
    clr r15
    adc r15
    .irp i, 4, 5, 6, 7, 8, 9, 10, 11
    .if \i < 4+N
    mov r\i, r14
    .if \i == 4
    add PRODUCT(sp), r14
    .else
    addc PRODUCT+2*(\i-4)(sp), r14
    .endif
    mov r14, PRODUCT+2*N+2*(\i-4)(sp)
    .endif
    .endr
    from_memory addc, addc, H+2*N
    mov r15, r14
    adc r15
    .ifc \instruction, add
    mov MASK(sp), r13
    rla r13                 /* -M is the complement plus one */
    .else
    setc
    .endif
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7
    .if \i < N
    \instruction\()c M+2*\i(sp), PRODUCT+2*N+2*\i(sp)
    .endif
    .endr
    from_memory \instruction\()c, \instruction\()c, M+2*N
    .ifc \instruction, add
    adc r15
    add MASK(sp), r15
    .else
    sbc r15
    .endif
    add r14, r4
    .irp i, 5, 6, 7, 8, 9, 10, 11
    .if \i < 4+N
    adc r\i
    .endif
    .endr
    adc r15
.endm
