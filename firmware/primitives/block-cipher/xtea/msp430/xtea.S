/* XTEA: y and z of the report in two registers each. */

#define Y r4, r5
#define Z r6, r7
#define F r8, r9
#define S r10
#define T r11
#define K r12
#define CARRY r13
#define END r14 /* end of the round keys, in the direction of the rounds */
#define P r15
#define ROUND_KEYS_BYTES (4 * 64)

/* The frame. */
#define IN 0(sp)
#define OUT 2(sp)
#define FIRST_KEY 4(sp)
#define BLOCKS 6(sp)
#define FRAME_BYTES 8

/* f = ((x << 4 ^ x >> 5) + x) ^ key. x << 3 has 35 bits; all but its low byte are x >> 5, and one
   more shift gives x << 4. */
.macro f_of xh, xl, fh, fl
    mov \xl, \fl
    mov \xh, \fh
    clr CARRY
    .rept 3
    rla \fl
    rlc \fh
    rlc CARRY
    .endr
    mov \fl, S
    swpb S
    mov \fh, T
    swpb T
    xor T, S
    mov.b S, S
    xor T, S
    mov.b T, T
    swpb CARRY
    bis CARRY, T
    rla \fl
    rlc \fh
    xor S, \fl
    xor T, \fh
    add \xl, \fl
    addc \xh, \fh
    xor @K+, \fl
    xor @K+, \fh
.endm

.macro plus yh, yl, fh, fl
    add \fl, \yl
    addc \fh, \yh
.endm

.macro minus yh, yl, fh, fl
    sub \fl, \yl
    subc \fh, \yh
.endm

/* Loads a big-endian word from any address. */
.macro load h, l
    mov.b @P+, \h
    swpb \h
    mov.b @P+, T
    bis T, \h
    mov.b @P+, \l
    swpb \l
    mov.b @P+, T
    bis T, \l
.endm

.macro store h, l, at
    mov.b \h, \at+1(P)
    swpb \h
    mov.b \h, \at(P)
    mov.b \l, \at+3(P)
    swpb \l
    mov.b \l, \at+2(P)
.endm

.macro enter
    push r4
    push r5
    push r6
    push r7
    push r8
    push r9
    push r10
    push r15
    push r12
    push r13
    push r14
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

.macro load_block
    mov IN, P
    load Y
    load Z
    mov P, IN
    mov FIRST_KEY, K
.endm

.macro store_block
    mov OUT, P
    store Y, 0
    store Z, 4
    add #8, OUT
.endm

    .section .text.xtea_encrypt, "ax", @progbits
    .global xtea_encrypt
    .type xtea_encrypt, @function
    .p2align 1
/* void xtea_encrypt(const xtea_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) */
xtea_encrypt:
    tst r15
    jz .Lencrypted
    enter
    mov r12, END
    add #ROUND_KEYS_BYTES, END
.Lencrypt_block:
    load_block
.Lencrypt_rounds:
    f_of Z, F
    plus Y, F
    f_of Y, F
    plus Z, F
    cmp END, K
    jne .Lencrypt_rounds
    store_block
    dec BLOCKS
    jnz .Lencrypt_block
    leave
.Lencrypted:
    ret
    .size xtea_encrypt, . - xtea_encrypt

    .section .text.xtea_decrypt, "ax", @progbits
    .global xtea_decrypt
    .type xtea_decrypt, @function
    .p2align 1
/* void xtea_decrypt(const xtea_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) */
xtea_decrypt:
    tst r15
    jz .Ldecrypted
    enter
    mov r12, END
    sub #4, END
    add #ROUND_KEYS_BYTES - 4, FIRST_KEY
.Ldecrypt_block:
    load_block
.Ldecrypt_rounds:
    f_of Y, F
    minus Z, F
    sub #8, K
    f_of Z, F
    minus Y, F
    sub #8, K
    cmp END, K
    jne .Ldecrypt_rounds
    store_block
    dec BLOCKS
    jnz .Ldecrypt_block
    leave
.Ldecrypted:
    ret
    .size xtea_decrypt, . - xtea_decrypt
