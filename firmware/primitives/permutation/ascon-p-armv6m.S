/* The Ascon permutation for ARMv6-M; see ascon-p.h. Words are in halves (x2l is the lower one of x2),
   whose shifts need no distances in registers. Eight halves are in r0 to r7, those of x3 in r8 and
   r9. */
    .syntax unified
    .thumb

#define CONSTANT 0
#define FRAME_BYTES 4
#define STATE (FRAME_BYTES + 16)

/* A round. pS (SP 800-232, figure 3), where p, q and r are the exclusive or of x0 and x4, x1 and x2,
   x3 and x4, is
       x0 = r ^ (x1 | (p ^ q))     x1 = p ^ (q | (x1 ^ x3))     x2 = q ^ ~(x4 & ~x3)
       x3 = q ^ (r | x0)           x4 = r ^ (x1 & ~p)
   as the 32 cases of figure 3's table show. Order and registers were found by a search for the
   fewest cycles. The constant is that of the frame, \ahead rounds on. */
.macro round ahead
    mov     r10, r1             /* x0h */
    movs    r1, r6
    eors    r1, r1, r0          /* pl */
    eors    r5, r5, r3          /* qh */
    mov     r11, r5             /* qh */
    ldr     r5, [sp, #CONSTANT]
    .if     \ahead
    subs    r5, #15 * (\ahead)
    .endif
    eors    r5, r5, r4          /* x2l */
    mov     r4, r8              /* x3l */
    eors    r4, r4, r6          /* rl */
    eors    r5, r5, r2          /* ql */
    orrs    r0, r0, r4
    eors    r0, r0, r5          /* x3l */
    mov     r12, r0             /* x3l */
    mov     r0, r8              /* x3l */
    bics    r6, r6, r0
    eors    r6, r6, r5
    mvns    r6, r6              /* x2l */
    eors    r0, r0, r2
    orrs    r0, r0, r5
    eors    r0, r0, r1          /* x1l */
    eors    r5, r5, r1
    orrs    r5, r5, r2
    bics    r2, r2, r1
    eors    r2, r2, r4          /* x4l */
    mov     r1, r9              /* x3h */
    eors    r1, r1, r7          /* rh */
    eors    r5, r5, r4          /* x0l */
    mov     r4, r9              /* x3h */
    mov     r8, r2              /* x4l */
    movs    r2, r7
    bics    r2, r2, r4
    eors    r4, r4, r3
    mov     r9, r6              /* x2l */
    mov     r6, r11             /* qh */
    orrs    r4, r4, r6
    mov     lr, r2
    mov     r2, r10             /* x0h */
    eors    r7, r7, r2          /* ph */
    eors    r4, r4, r7          /* x1h */
    orrs    r2, r2, r1
    eors    r6, r6, r7
    orrs    r6, r6, r3
    bics    r3, r3, r7
    eors    r3, r3, r1          /* x4h */
    lsls    r7, r4, #3
    eors    r6, r6, r1          /* x0h */
    lsrs    r1, r0, #7
    mov     r10, r3             /* x4h */
    lsrs    r3, r0, #29
    eors    r3, r3, r4
    eors    r3, r3, r7
    eors    r1, r1, r3
    lsrs    r3, r4, #29
    lsls    r7, r4, #25
    eors    r1, r1, r7
    eors    r3, r3, r0
    lsrs    r4, r4, #7
    lsls    r7, r0, #3
    lsls    r0, r0, #25
    eors    r7, r7, r3
    eors    r7, r7, r4
    lsrs    r4, r6, #19
    lsls    r3, r5, #13
    eors    r0, r0, r7
    lsrs    r7, r5, #19
    eors    r4, r4, r6
    eors    r7, r7, r5
    eors    r4, r4, r3
    mov     r3, r11             /* qh */
    eors    r2, r2, r3          /* x3h */
    mov     r11, r0
    lsrs    r0, r6, #28
    eors    r4, r4, r0
    mov     r0, lr
    eors    r3, r3, r0
    lsls    r0, r6, #13
    eors    r7, r7, r0
    lsls    r0, r2, #22
    lsls    r6, r6, #4
    mov     lr, r1
    lsrs    r1, r5, #28
    eors    r1, r1, r7
    eors    r1, r1, r6
    mvns    r3, r3              /* x2h */
    lsls    r5, r5, #4
    lsrs    r6, r2, #10
    mov     r7, r12             /* x3l */
    mov     r12, r1
    lsls    r1, r7, #22
    eors    r5, r5, r4
    lsrs    r4, r7, #10
    eors    r4, r4, r7
    eors    r0, r0, r4
    lsrs    r4, r7, #17
    eors    r6, r6, r2
    eors    r1, r1, r6
    eors    r0, r0, r4
    lsls    r7, r7, #15
    lsrs    r4, r2, #17
    mov     r6, r10             /* x4h */
    mov     r10, r5
    lsrs    r5, r6, #7
    lsls    r2, r2, #15
    eors    r2, r2, r0
    eors    r4, r4, r1
    eors    r4, r4, r7
    mov     r0, r8              /* x4l */
    lsrs    r7, r0, #9
    lsls    r1, r0, #23
    mov     r8, r2
    lsls    r2, r0, #25
    eors    r5, r5, r6
    eors    r5, r5, r2
    eors    r7, r7, r5
    lsrs    r5, r0, #7
    mov     r2, r9              /* x2l */
    mov     r9, r4
    lsrs    r4, r2, #1
    eors    r5, r5, r0
    lsls    r0, r6, #25
    eors    r5, r5, r0
    lsls    r0, r3, #31
    eors    r4, r4, r2
    eors    r4, r4, r0
    lsls    r0, r6, #23
    lsrs    r6, r6, #9
    eors    r6, r6, r5
    lsrs    r5, r2, #6
    eors    r6, r6, r1
    eors    r4, r4, r5
    eors    r7, r7, r0
    lsls    r1, r2, #31
    lsrs    r0, r3, #1
    lsrs    r5, r3, #6
    eors    r0, r0, r3
    eors    r1, r1, r0
    lsls    r3, r3, #26
    eors    r4, r4, r3
    eors    r5, r5, r1
    lsls    r2, r2, #26
    eors    r5, r5, r2
    mov     r0, r12
    mov     r1, r10
    mov     r2, r11
    mov     r3, lr
.endm

    .section .text.ascon_p, "ax", %progbits
    .global ascon_p
    .type   ascon_p, %function
    .thumb_func
    .p2align 2
/* void ascon_p(ascon_state *s, unsigned rounds) */
ascon_p:
    push    {r0, r4-r7, lr}
    mov     r4, r8
    mov     r5, r9
    mov     r6, r10
    mov     r7, r11
    push    {r4-r7}
    sub     sp, #FRAME_BYTES
    /* 0xf0 for 12 rounds, 0x0f less for each that is left out (SP 800-232, table 5). */
    movs    r2, #15
    muls    r1, r2, r1
    adds    r1, #0x3c
    str     r1, [sp, #CONSTANT]
    ldr     r6, [r0, #24]
    ldr     r7, [r0, #28]
    mov     r8, r6
    mov     r9, r7
    ldr     r6, [r0, #32]
    ldr     r7, [r0, #36]
    ldm     r0, {r0-r5}
.Lfour_rounds:
    round   0
    round   1
    round   2
    round   3
    mov     r10, r0
    ldr     r0, [sp, #CONSTANT]
    subs    r0, #60
    str     r0, [sp, #CONSTANT]
    cmp     r0, #0x3c
    mov     r0, r10
    beq     .Lpermuted
    b       .Lfour_rounds
.Lpermuted:
    mov     r10, r6
    mov     r11, r7
    ldr     r7, [sp, #STATE]
    stmia   r7!, {r0-r5}
    mov     r0, r8
    mov     r1, r9
    mov     r2, r10
    mov     r3, r11
    stmia   r7!, {r0-r3}
    movs    r0, #0
    movs    r1, #0
    movs    r2, #0
    movs    r3, #0
    mov     r12, r0
    mov     lr, r0
    add     sp, #FRAME_BYTES
    pop     {r4-r7}
    mov     r8, r4
    mov     r9, r5
    mov     r10, r6
    mov     r11, r7
    pop     {r0, r4-r7, pc}
    .size   ascon_p, . - ascon_p
