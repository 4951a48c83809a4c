/* SipHash's compression with two rounds. v0, v1 and v3 are four registers each, least significant
   first; v2 is in memory. A rotation by 16 or 32 swaps names, and after two rounds all names are
   back in place. */

#define V0 r12, r13, r14, r15
#define V1 r4, r5, r6, r7
#define V3 r8, r9, r10, r11

/* The frame */
#define V2 0
#define BLOCK 8
#define SPILLED 16
#define DATA 24
#define END 26
#define STATE 28
#define FRAME_BYTES 30

/* 5 cycles each */
.macro rotl1 a, b, c, d
    rla \a
    rlc \b
    rlc \c
    rlc \d
    adc \a
.endm

.macro rotr1 a, b, c, d
    bit #1, \a
    rrc \d
    rrc \c
    rrc \b
    rrc \a
.endm

.macro plus a, b, c, d, w, x, y, z
    add \w, \a
    addc \x, \b
    addc \y, \c
    addc \z, \d
.endm

.macro with a, b, c, d, w, x, y, z
    xor \w, \a
    xor \x, \b
    xor \y, \c
    xor \z, \d
.endm

.macro plus_v2 o, p, q, r, w, x, y, z
    add \w, V2+\o(sp)
    addc \x, V2+\p(sp)
    addc \y, V2+\q(sp)
    addc \z, V2+\r(sp)
.endm

.macro with_v2 a, b, c, d, o, p, q, r
    xor V2+\o(sp), \a
    xor V2+\p(sp), \b
    xor V2+\q(sp), \c
    xor V2+\r(sp), \d
.endm

/* SipRound (figure 2.1): k to n are v0, a to d v1, e to h v3; o to r are v2's offsets. */
.macro sip_round k, l, m, n, a, b, c, d, o, p, q, r, e, f, g, h
    plus \k, \l, \m, \n, \a, \b, \c, \d
    .rept 3                             /* v1 <<< 13: left by 16, right by 3 */
    rotr1 \d, \a, \b, \c
    .endr
    with \d, \a, \b, \c, \k, \l, \m, \n
    plus_v2 \o, \p, \q, \r, \e, \f, \g, \h
    with_v2 \h, \e, \f, \g, \o, \p, \q, \r /* v3 <<< 16; from here on v0 <<< 32 */
    plus_v2 \o, \p, \q, \r, \d, \a, \b, \c
    plus \m, \n, \k, \l, \h, \e, \f, \g
    rotl1 \c, \d, \a, \b                /* v1 <<< 17 */
    with_v2 \c, \d, \a, \b, \o, \p, \q, \r
    .rept 5                             /* v3 <<< 21 */
    rotl1 \g, \h, \e, \f
    .endr
    with \g, \h, \e, \f, \m, \n, \k, \l /* from here on v2 <<< 32 */
.endm

    .section .text.siphash_compress, "ax", @progbits
    .global siphash_compress
    .type siphash_compress, @function
    .p2align 1
/* void siphash_compress(uint64_t v[4], const uint8_t *data, size_t blocks) */
siphash_compress:
    tst r14
    jnz .Lbegin
    ret
.Lbegin:
    push r4
    push r5
    push r6
    push r7
    push r8
    push r9
    push r10
    sub #FRAME_BYTES, sp
    rla r14
    rla r14
    rla r14
    add r13, r14
    mov r14, END(sp)
    mov r12, STATE(sp)
    mov r13, DATA(sp)
    .irp half, 0, 2, 4, 6
    mov @r12+, r13
    mov r13, SPILLED+\half(sp)
    .endr
    mov @r12+, r4
    mov @r12+, r5
    mov @r12+, r6
    mov @r12+, r7
    .irp half, 0, 2, 4, 6
    mov @r12+, r13
    mov r13, V2+\half(sp)
    .endr
    mov @r12+, r8
    mov @r12+, r9
    mov @r12+, r10
    mov @r12+, r11
.Lblock:
    mov DATA(sp), r12
    .irp half, 0, 2, 4, 6
    mov.b @r12+, r13
    mov.b @r12+, r14
    swpb r14
    bis r14, r13
    mov r13, BLOCK+\half(sp)
    .endr
    mov r12, DATA(sp)
    with r8, r9, r10, r11, BLOCK(sp), BLOCK+2(sp), BLOCK+4(sp), BLOCK+6(sp)
    mov SPILLED(sp), r12
    mov SPILLED+2(sp), r13
    mov SPILLED+4(sp), r14
    mov SPILLED+6(sp), r15
    sip_round V0, V1, 0, 2, 4, 6, V3
    sip_round r14, r15, r12, r13, r6, r7, r4, r5, 4, 6, 0, 2, r10, r11, r8, r9
    with V0, BLOCK(sp), BLOCK+2(sp), BLOCK+4(sp), BLOCK+6(sp)
    mov r12, SPILLED(sp)
    mov r13, SPILLED+2(sp)
    mov r14, SPILLED+4(sp)
    mov r15, SPILLED+6(sp)
    cmp DATA(sp), END(sp)
    jz .Ldone
    br #.Lblock
.Ldone:
    mov STATE(sp), r12
    .irp half, 0, 2, 4, 6
    mov SPILLED+\half(sp), \half(r12)
    mov V2+\half(sp), 16+\half(r12)
    .endr
    mov r4, 8(r12)
    mov r5, 10(r12)
    mov r6, 12(r12)
    mov r7, 14(r12)
    mov r8, 24(r12)
    mov r9, 26(r12)
    mov r10, 28(r12)
    mov r11, 30(r12)
    add #FRAME_BYTES, sp
    pop r10
    pop r9
    pop r8
    pop r7
    pop r6
    pop r5
    pop r4
    ret
    .size siphash_compress, . - siphash_compress
