/* memcpy and memset: by words where the addresses allow it (words must be at even addresses:
   SLAU049F, section 1.4). Arguments in r12, r13 and r14 and the result in r12, as for every C
   function. */

    .section .text.memcpy, "ax", @progbits
    .p2align 1
    .global memcpy
    .type memcpy, @function
memcpy:
    mov     r12, r15
    mov     r12, r11
    bis     r13, r11
    bit     #1, r11
    jnz     3f
    sub     #8, r14
    jlo     2f
1:  mov     @r13+, r11
    mov     r11, 0(r15)
    mov     @r13+, r11
    mov     r11, 2(r15)
    mov     @r13+, r11
    mov     r11, 4(r15)
    mov     @r13+, r11
    mov     r11, 6(r15)
    add     #8, r15
    sub     #8, r14
    jhs     1b
2:  add     #8, r14
3:  tst     r14
    jz      5f
4:  mov.b   @r13+, r11
    mov.b   r11, 0(r15)
    inc     r15
    dec     r14
    jnz     4b
5:  ret
    .size memcpy, . - memcpy

    .section .text.memset, "ax", @progbits
    .p2align 1
    .global memset
    .type memset, @function
memset:
    mov     r12, r15
    bit     #1, r12
    jnz     3f
    mov.b   r13, r13
    mov     r13, r11
    swpb    r11
    bis     r13, r11
    sub     #8, r14
    jlo     2f
1:  mov     r11, 0(r15)
    mov     r11, 2(r15)
    mov     r11, 4(r15)
    mov     r11, 6(r15)
    add     #8, r15
    sub     #8, r14
    jhs     1b
2:  add     #8, r14
3:  tst     r14
    jz      5f
4:  mov.b   r13, 0(r15)
    inc     r15
    dec     r14
    jnz     4b
5:  ret
    .size memset, . - memset
