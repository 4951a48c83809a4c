/* void tinyjambu_permute(const tinyjambu_ctx *ctx, uint32_t s[4], unsigned frame, unsigned steps) */

#define K r12
#define T r13
#define U r14
#define V r15

/* 16 steps at a time: s ^ s47 ^ ~(s70 & s85) ^ s91 ^ key, with word 0 of the register in \w0 and so
   on; the inversion is in the key. The new word replaces word 0, which is shifted out. */
.macro steps_16 w0, w2, w3, w4, w5, w6
    mov \w3, T         /* from bit 47: word 3 and the top of word 2 */
    mov \w2, U
    rla U
    rlc T
    xor T, \w0
    mov \w6, T         /* from bit 85, as bits 8 to 23 of words 6 and 5 shifted left by 3 */
    mov \w5, U
    .rept 3
    rla U
    rlc T
    .endr
    mov U, V
    xor T, V
    mov.b V, V
    xor U, V
    swpb V
    .rept 2             /* from bit 91 */
    rla U
    rlc T
    .endr
    xor T, \w0
    mov \w5, T         /* from bit 70, as bits 8 to 23 of words 5 and 4 shifted left by 2 */
    mov \w4, U
    .rept 2
    rla U
    rlc T
    .endr
    mov.b T, T
    bic #0xff, U
    bis T, U
    swpb U
    and U, V
    xor V, \w0
    xor @K+, \w0
.endm

    .section .text.tinyjambu_permute, "ax", @progbits
    .global tinyjambu_permute
    .type tinyjambu_permute, @function
    .p2align 1
tinyjambu_permute:
    push r4
    push r5
    push r6
    push r7
    push r8
    push r9
    push r10
    push r13
    push r15
    mov @r13+, r4
    mov @r13+, r5
    mov @r13+, r6
    mov @r13+, r7
    mov @r13+, r8
    mov @r13+, r9
    mov @r13+, r10
    mov @r13, r11
    xor r14, r6
.Lsteps:
    steps_16 r4, r6, r7, r8, r9, r10
    steps_16 r5, r7, r8, r9, r10, r11
    steps_16 r6, r8, r9, r10, r11, r4
    steps_16 r7, r9, r10, r11, r4, r5
    steps_16 r8, r10, r11, r4, r5, r6
    steps_16 r9, r11, r4, r5, r6, r7
    steps_16 r10, r4, r5, r6, r7, r8
    steps_16 r11, r5, r6, r7, r8, r9
    sub #16, K
    sub #128, 0(sp)
    jz .Ldone
    br #.Lsteps
.Ldone:
    incd sp
    pop r13
    mov r4, 0(r13)
    mov r5, 2(r13)
    mov r6, 4(r13)
    mov r7, 6(r13)
    mov r8, 8(r13)
    mov r9, 10(r13)
    mov r10, 12(r13)
    mov r11, 14(r13)
    pop r10
    pop r9
    pop r8
    pop r7
    pop r6
    pop r5
    pop r4
    ret
    .size tinyjambu_permute, . - tinyjambu_permute
