/* BLAKE2s's compression. The mixings of a half round are independent. In the order 0, 1, 2, 3, then
   4, 7, 6, 5, word 0 of the local vector never leaves its registers, and words 1, 3, 12 and 15 pass
   from one mixing to the next in registers. */

#include "msp430-rotate.inc"

#define A r4, r5
#define B r6, r7
#define C r8, r9
#define D r10, r11
#define ZERO r12, r13
#define T r14
#define SIGMA r15

/* The frame: the message at sp, then the local vector. */
#define V 64
#define H 128(sp)
#define FRAME_BYTES 130

.macro get h, l, word
    mov V+4*\word(sp), \l
    mov V+4*\word+2(sp), \h
.endm

.macro put h, l, word
    mov \l, V+4*\word(sp)
    mov \h, V+4*\word+2(sp)
.endm

/* x += y */
.macro plus xh, xl, yh, yl
    add \yl, \xl
    addc \yh, \xh
.endm

/* x ^= y */
.macro with xh, xl, yh, yl
    xor \yl, \xl
    xor \yh, \xh
.endm

/* x += the message word at the table's next offset */
.macro plus_message xh, xl
    mov.b @SIGMA+, T
    add sp, T
    add @T+, \xl
    addc @T+, \xh
.endm

/* G of RFC 7693, section 3.1. Right by 12 is left by 4 and 16, right by 8 is left by 8 and 16: the
   halves of d and b are swapped twice. */
.macro mix ah, al, bh, bl, ch, cl, dh, dl
    plus_message \ah, \al
    plus \ah, \al, \bh, \bl
    with \dh, \dl, \ah, \al
    plus \ch, \cl, \dl, \dh
    with \bh, \bl, \ch, \cl
    rotl1 \bh, \bl
    rotl1 \bh, \bl
    rotl1 \bh, \bl
    rotl1 \bh, \bl
    plus_message \ah, \al
    plus \ah, \al, \bl, \bh
    with \dl, \dh, \ah, \al
    rotl8 \dh, \dl, T
    plus \ch, \cl, \dh, \dl
    with \bl, \bh, \ch, \cl
    rotl8 \bh, \bl, T
    rotl1 \bh, \bl
.endm

    .section .text.blake2s_compress, "ax", @progbits
    .global blake2s_compress
    .type blake2s_compress, @function
    .p2align 1
/* void blake2s_compress(uint32_t h[8], const uint8_t *block, const uint32_t t[2], unsigned last) */
blake2s_compress:
    push r4
    push r5
    push r6
    push r7
    push r8
    push r9
    push r10
    sub #FRAME_BYTES, sp
    mov r12, H

    mov sp, r4
    mov #32, r5
    bit #1, r13
    jnz .Lunaligned
.Laligned:
    mov @r13+, r6
    mov r6, 0(r4)
    incd r4
    dec r5
    jnz .Laligned
    jmp .Lloaded
.Lunaligned:
    mov.b @r13+, r6
    mov.b @r13+, r7
    swpb r7
    bis r7, r6
    mov r6, 0(r4)
    incd r4
    dec r5
    jnz .Lunaligned
.Lloaded:
    .irp half, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
    mov @r12+, r4
    mov r4, V+\half(sp)
    .endr
    mov #.Liv, r13
    .irp half, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
    mov @r13+, r4
    mov r4, V+32+\half(sp)
    .endr
    .irp half, 0, 2, 4, 6
    mov @r14+, r4
    xor r4, V+48+\half(sp)
    .endr
    tst r15
    jz .Lnot_last
    inv V+56(sp)
    inv V+58(sp)
.Lnot_last:
    mov #.Lsigma, SIGMA
    get ZERO, 0
    get A, 1
    get D, 12
.Lround:
    get B, 4
    get C, 8
    mix ZERO, B, C, D
    put B, 4
    put C, 8
    put D, 12
    get B, 5
    get C, 9
    get D, 13
    mix A, B, C, D
    put A, 1
    put B, 5
    put C, 9
    put D, 13
    get A, 2
    get B, 6
    get C, 10
    get D, 14
    mix A, B, C, D
    put A, 2
    put B, 6
    put C, 10
    put D, 14
    get A, 3
    get B, 7
    get C, 11
    get D, 15
    mix A, B, C, D
    put B, 7
    put C, 11

    get B, 5
    get C, 10
    mix ZERO, B, C, D
    put B, 5
    put C, 10
    put D, 15
    get B, 4
    get C, 9
    get D, 14
    mix A, B, C, D
    put A, 3
    put B, 4
    put C, 9
    put D, 14
    get A, 2
    get B, 7
    get C, 8
    get D, 13
    mix A, B, C, D
    put A, 2
    put B, 7
    put C, 8
    put D, 13
    get A, 1
    get B, 6
    get C, 11
    get D, 12
    mix A, B, C, D
    put B, 6
    put C, 11
    cmp #.Lsigma_end, SIGMA
    jeq .Lrounds_done
    br #.Lround
.Lrounds_done:
    put ZERO, 0
    put A, 1
    put D, 12
    mov H, r12
    .irp half, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
    mov V+\half(sp), r4
    xor V+32+\half(sp), r4
    xor r4, \half(r12)
    .endr
    add #V+64, sp
    .rept (V+64)/2
    push #0
    .endr
    add #FRAME_BYTES, sp
    pop r10
    pop r9
    pop r8
    pop r7
    pop r6
    pop r5
    pop r4
    ret
    .size blake2s_compress, . - blake2s_compress

    .section .rodata.blake2s_compress, "a", @progbits
    .p2align 1
.Liv:
    .long 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a
    .long 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19
/* Offsets of the message words (RFC 7693, section 2.7), in the order of the mixings above. */
.Lsigma:
    .byte 4*0, 4*1, 4*2, 4*3, 4*4, 4*5, 4*6, 4*7, 4*8, 4*9, 4*14, 4*15, 4*12, 4*13, 4*10, 4*11
    .byte 4*14, 4*10, 4*4, 4*8, 4*9, 4*15, 4*13, 4*6, 4*1, 4*12, 4*5, 4*3, 4*11, 4*7, 4*0, 4*2
    .byte 4*11, 4*8, 4*12, 4*0, 4*5, 4*2, 4*15, 4*13, 4*10, 4*14, 4*9, 4*4, 4*7, 4*1, 4*3, 4*6
    .byte 4*7, 4*9, 4*3, 4*1, 4*13, 4*12, 4*11, 4*14, 4*2, 4*6, 4*15, 4*8, 4*4, 4*0, 4*5, 4*10
    .byte 4*9, 4*0, 4*5, 4*7, 4*2, 4*4, 4*10, 4*15, 4*14, 4*1, 4*3, 4*13, 4*6, 4*8, 4*11, 4*12
    .byte 4*2, 4*12, 4*6, 4*10, 4*0, 4*11, 4*8, 4*3, 4*4, 4*13, 4*1, 4*9, 4*15, 4*14, 4*7, 4*5
    .byte 4*12, 4*5, 4*1, 4*15, 4*14, 4*13, 4*4, 4*10, 4*0, 4*7, 4*8, 4*11, 4*9, 4*2, 4*6, 4*3
    .byte 4*13, 4*11, 4*7, 4*14, 4*12, 4*1, 4*3, 4*9, 4*5, 4*0, 4*2, 4*10, 4*8, 4*6, 4*15, 4*4
    .byte 4*6, 4*15, 4*14, 4*9, 4*11, 4*3, 4*0, 4*8, 4*12, 4*2, 4*10, 4*5, 4*1, 4*4, 4*13, 4*7
    .byte 4*10, 4*2, 4*8, 4*4, 4*7, 4*6, 4*1, 4*5, 4*15, 4*11, 4*13, 4*0, 4*3, 4*12, 4*9, 4*14
.Lsigma_end:
