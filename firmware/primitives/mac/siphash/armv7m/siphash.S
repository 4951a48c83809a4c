/* SipHash's compression with two rounds, and its finalization. 64-bit words are pairs of
   registers. */
    .syntax unified
    .thumb

#define V0 r4, r5
#define V1 r6, r7
#define V2 r8, r9
#define V3 r10, r11

/* A rotation by 32 swaps names. */
#define V0_ROTATED r5, r4
#define V2_ROTATED r9, r8

#define ML r2 /* of the message */
#define MH r3
#define T r12
#define U lr

.macro add64 al, ah, bl, bh
    adds    \al, \al, \bl
    adc     \ah, \ah, \bh
.endm

/* a = (a <<< n) ^ b */
.macro rotate_xor n, al, ah, bl, bh
    eor     T, \bl, \al, lsl #\n
    eor     U, \bh, \al, lsr #32 - \n
    eor     \al, T, \ah, lsr #32 - \n
    eor     \ah, U, \ah, lsl #\n
.endm

/* SipRound (figure 2.1); the halves of v0 and v2 are swapped in the result. */
.macro sip_round v0l, v0h, v2l, v2h
    add64   \v0l, \v0h, V1
    add64   \v2l, \v2h, V3
    rotate_xor 13, V1, \v0l, \v0h
    rotate_xor 16, V3, \v2l, \v2h
    add64   \v2l, \v2h, V1
    add64   \v0h, \v0l, V3
    rotate_xor 17, V1, \v2l, \v2h
    rotate_xor 21, V3, \v0h, \v0l
.endm

/* Absorbs the message's next word with two rounds. */
.macro take_block
    eor     r10, r10, ML
    eor     r11, r11, MH
    sip_round V0, V2
    sip_round V0_ROTATED, V2_ROTATED
    eor     r4, r4, ML
    eor     r5, r5, MH
.endm

    .section .text.siphash_compress, "ax", %progbits
    .global siphash_compress
    .type   siphash_compress, %function
    .thumb_func
    .p2align 2
/* void siphash_compress(uint64_t v[4], const uint8_t *data, size_t blocks) */
siphash_compress:
    cmp     r2, #0
    bne     .Lbegin
    bx      lr
.Lbegin:
    push    {r0, r4-r11, lr}
    ldmia   r0, {r4-r11}
    add     r0, r1, r2, lsl #3
    .p2align 2
.Lblock:
    ldr     ML, [r1]
    ldr     MH, [r1, #4]
    adds    r1, #8
    take_block
    cmp     r1, r0
    bne     .Lblock
    pop     {r0}
    stmia   r0, {r4-r11}
    pop     {r4-r11, pc}
    .size   siphash_compress, . - siphash_compress

    .section .text.siphash_finish, "ax", %progbits
    .global siphash_finish
    .type   siphash_finish, %function
    .thumb_func
    .p2align 2
/* uint64_t siphash_finish(uint64_t v[4], uint64_t last) */
siphash_finish:
    push    {r0, r4-r11, lr}
    ldmia   r0, {r4-r11}
    take_block
    eor     r8, r8, #0xff
    movs    r0, #2
    .p2align 2
.Ltwo_rounds:
    sip_round V0, V2
    sip_round V0_ROTATED, V2_ROTATED
    subs    r0, #1
    bne     .Ltwo_rounds
    eor     r0, r4, r6
    eor     r1, r5, r7
    eor     r2, r8, r10
    eor     r3, r9, r11
    eors    r0, r2
    eors    r1, r3
    pop     {r2}
    .irp    register, r4, r5, r6, r7
    movs    \register, #0
    .endr
    stmia   r2!, {r4-r7}
    stmia   r2!, {r4-r7}
    pop     {r4-r11, pc}
    .size   siphash_finish, . - siphash_finish
