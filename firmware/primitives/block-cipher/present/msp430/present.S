/* PRESENT's encryption, as in present-ttable-body.h. The state is bytes 0, 2, 4, 6, least
   significant first, in two words, and bytes 1, 3, 5, 7 in two more. */

#define INDEX r12
#define END r13
#define IN r14
#define KEY r15

/* The frame */
#define BLOCKS 0(sp)
#define OUT 2(sp)
#define CTX 4(sp)
#define FRAME_BYTES 6

/* sBoxLayer and pLayer of a byte: word's high byte, which becomes its low byte. */
.macro spread op, h, l, word
    swpb \word
    mov.b \word, INDEX
    rla INDEX
    rla INDEX
    \op present_table(INDEX), \l
    \op present_table+2(INDEX), \h
.endm

/* Shifts each byte left by two; its top two bits are zero. */
.macro left_2 h, l
    rla \l
    rla \l
    rla \h
    rla \h
.endm

/* sBoxLayer and pLayer of four bytes. */
.macro half h, l, even, odd
    spread mov, \h, \l, \odd
    left_2 \h, \l
    spread bis, \h, \l, \even
    left_2 \h, \l
    spread bis, \h, \l, \odd
    left_2 \h, \l
    spread bis, \h, \l, \even
.endm

.macro load word, low, high
    mov.b \high(IN), \word
    swpb \word
    mov.b \low(IN), INDEX
    bis INDEX, \word
.endm

.macro store word, low, high
    mov.b \word, \low(INDEX)
    swpb \word
    mov.b \word, \high(INDEX)
.endm

    .section .text.present_encrypt, "ax", @progbits
    .global present_encrypt
    .type present_encrypt, @function
    .p2align 1
/* void present_encrypt(const present_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) */
present_encrypt:
    tst r15
    jz .Lnothing
    push r4
    push r5
    push r6
    push r7
    push r8
    push r9
    push r10
    push r12
    push r13
    push r15
    mov r12, END
    add #256, END
.Lblock:
    mov CTX, KEY
    load r4, 7, 5
    load r5, 3, 1
    load r6, 6, 4
    load r7, 2, 0
    add #8, IN
    xor @KEY+, r4
    xor @KEY+, r5
    xor @KEY+, r6
    xor @KEY+, r7
.Lround:
    half r9, r8, r4, r6
    half r11, r10, r5, r7
    mov @KEY+, r4
    mov @KEY+, r5
    mov @KEY+, r6
    mov @KEY+, r7
    xor r8, r4
    xor r9, r5
    xor r10, r6
    xor r11, r7
    cmp END, KEY
    jne .Lround
    mov OUT, INDEX
    store r4, 7, 5
    store r5, 3, 1
    store r6, 6, 4
    store r7, 2, 0
    add #8, OUT
    dec BLOCKS
    jnz .Lblock
    add #FRAME_BYTES, sp
    pop r10
    pop r9
    pop r8
    pop r7
    pop r6
    pop r5
    pop r4
.Lnothing:
    ret
    .size present_encrypt, . - present_encrypt
