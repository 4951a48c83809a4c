/* ChaCha20's block function. RORS takes its distance from a register, so that the lower registers hold
   four words and the four distances; of the other words, six are in upper registers and the rest in
   the frame. Words 0 and 3 stay where they are between the quarter rounds that share them. */
    .syntax unified
    .thumb

/* The frame: the words that have no register, what is left of the loop, the arguments. */
#define LEFT 64
#define FRAME_BYTES 68
#define STREAM 84
#define STATE 88

.macro get register, word
    .if     (\word) == 4
    mov     \register, r8
    .elseif (\word) == 5
    mov     \register, r9
    .elseif (\word) == 6
    mov     \register, r10
    .elseif (\word) == 7
    mov     \register, r11
    .elseif (\word) == 8
    mov     \register, r12
    .elseif (\word) == 9
    mov     \register, lr
    .else
    ldr     \register, [sp, #4 * (\word)]
    .endif
.endm

.macro put register, word
    .if     (\word) == 4
    mov     r8, \register
    .elseif (\word) == 5
    mov     r9, \register
    .elseif (\word) == 6
    mov     r10, \register
    .elseif (\word) == 7
    mov     r11, \register
    .elseif (\word) == 8
    mov     r12, \register
    .elseif (\word) == 9
    mov     lr, \register
    .else
    str     \register, [sp, #4 * (\word)]
    .endif
.endm

/* Of the words in r0 and of these; r4-r7 are the distances of right rotations. */
.macro quarter_round b, c, d
    get     r1, \b
    get     r2, \c
    get     r3, \d
    adds    r0, r0, r1
    eors    r3, r3, r0
    rors    r3, r3, r4
    adds    r2, r2, r3
    eors    r1, r1, r2
    rors    r1, r1, r5
    adds    r0, r0, r1
    eors    r3, r3, r0
    rors    r3, r3, r6
    adds    r2, r2, r3
    eors    r1, r1, r2
    rors    r1, r1, r7
    put     r1, \b
    put     r2, \c
    put     r3, \d
.endm

    .section .text.chacha20_block, "ax", %progbits
    .global chacha20_block
    .type   chacha20_block, %function
    .thumb_func
    .p2align 2
/* void chacha20_block(uint8_t stream[64], const uint32_t state[16]) */
chacha20_block:
    push    {r0, r1, r4-r7, lr}
    mov     r4, r8
    mov     r5, r9
    mov     r6, r10
    mov     r7, r11
    push    {r4-r7}
    sub     sp, #FRAME_BYTES
    .irp    word, 0, 4, 8, 12
    ldmia   r1!, {r4-r7}
    put     r4, \word
    put     r5, \word + 1
    put     r6, \word + 2
    put     r7, \word + 3
    .endr
    movs    r0, #10
    str     r0, [sp, #LEFT]
    movs    r4, #16
    movs    r5, #20
    movs    r6, #24
    movs    r7, #25
    get     r0, 0
.Lloop:
    quarter_round 4, 8, 12
    put     r0, 0
    get     r0, 1
    quarter_round 5, 9, 13
    put     r0, 1
    get     r0, 2
    quarter_round 6, 10, 14
    put     r0, 2
    get     r0, 3
    quarter_round 7, 11, 15
    quarter_round 4, 9, 14
    put     r0, 3
    get     r0, 1
    quarter_round 6, 11, 12
    put     r0, 1
    get     r0, 2
    quarter_round 7, 8, 13
    put     r0, 2
    get     r0, 0
    quarter_round 5, 10, 15
    ldr     r1, [sp, #LEFT]
    subs    r1, #1
    str     r1, [sp, #LEFT]
    beq     1f
    b       .Lloop
1:  put     r0, 0
    ldr     r4, [sp, #STATE]
    ldr     r5, [sp, #STREAM]
    .irp    word, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    ldmia   r4!, {r1}
    get     r0, \word
    adds    r0, r0, r1
    stmia   r5!, {r0}
    .endr
    mov     r0, sp
    movs    r1, #0
    movs    r2, #0
    movs    r3, #0
    movs    r4, #0
    .rept   4
    stmia   r0!, {r1-r4}
    .endr
    add     sp, #FRAME_BYTES
    pop     {r4-r7}
    mov     r8, r4
    mov     r9, r5
    mov     r10, r6
    mov     r11, r7
    pop     {r0, r1, r4-r7, pc}
    .size   chacha20_block, . - chacha20_block
