/* SHA-256's compression. The working variables a .. h are in eight slots of RAM that are never
   moved: from round to round each slot takes the next letter. d becomes e and h becomes a in place.
   Registers hold a, and b ^ c, from one round to the next. */

#include "msp430-rotate.inc"

#define EH r4
#define EL r5
#define K r14
#define W r15

/* The frame: eight slots from 0(sp) on, then the schedule, four bytes each, low half first. */
#define RING 32
#define RING_END 96(sp)
#define STATE 98(sp)
#define DATA 100(sp)
#define BLOCKS 102(sp)
#define CONSTANT 104(sp)
#define FRAME_BYTES 106

.macro load h, l, address
    mov \address(sp), \l
    mov \address+2(sp), \h
.endm

.macro store h, l, address
    mov \l, \address(sp)
    mov \h, \address+2(sp)
.endm

.macro copy h, l, to_h, to_l
    mov \h, \to_h
    mov \l, \to_l
.endm

.macro xor32 h, l, to_h, to_l
    xor \h, \to_h
    xor \l, \to_l
.endm

.macro add32 h, l, to_h, to_l
    add \l, \to_l
    addc \h, \to_h
.endm

/* One round (FIPS 180-4, 6.2.2, step 3). In: A, X = b ^ c. Out: the new a in T, its a ^ b in P, so
   the next call swaps A with T and X with P. a .. h are the slots' offsets in the frame. */
.macro round AH, AL, TH, TL, XH, XL, PH, PL, a, b, c, d, e, f, g, h
    load \TH, \TL, \h
    add @K+, \TL
    addc @K+, \TH
    add @W+, \TL
    addc @W+, \TH
    load EH, EL, \e
    /* Ch(e, f, g) = (e and f) + (g and not e) */
    mov EL, \PL
    and \f(sp), \PL
    mov EH, \PH
    and \f+2(sp), \PH
    add32 \PH, \PL, \TH, \TL
    load \PH, \PL, \g
    bic EL, \PL
    bic EH, \PH
    add32 \PH, \PL, \TH, \TL
    /* Sigma1(e): right by 6, 11, 25 = 8 right of: 2 left, 3 right, 16 + 1 right */
    copy EH, EL, \PH, \PL
    rotr1 \PH, \PL
    rotr1 \PH, \PL
    xor32 EL, EH, \PH, \PL
    rotr1 \PH, \PL
    rotl1 EH, EL
    rotl1 EH, EL
    xor32 EH, EL, \PH, \PL
    rotr8 \PH, \PL, EL
    add32 \PH, \PL, \TH, \TL
    /* T now holds T1 */
    add \TL, \d(sp)
    addc \TH, \d+2(sp)
    /* Maj(a, b, c) = ((a ^ b) and (b ^ c)) ^ b, and b = a ^ (a ^ b) */
    load \PH, \PL, \b
    xor32 \AH, \AL, \PH, \PL
    and \PH, \XH
    and \PL, \XL
    xor32 \AH, \AL, \XH, \XL
    xor32 \PH, \PL, \XH, \XL
    add32 \XH, \XL, \TH, \TL
    /* Sigma0(a): right by 2, 13, 22 = 2 right, 16 and 3 left, 16 + 8 and 2 left */
    copy \AH, \AL, EH, EL
    rotr1 EH, EL
    rotr1 EH, EL
    rotl1 \AH, \AL
    rotl1 \AH, \AL
    copy \AH, \AL, \XH, \XL
    rotl1 \XH, \XL
    xor32 \XL, \XH, EH, EL
    rotr8 \AH, \AL, \XL
    xor32 \AL, \AH, EH, EL
    add32 EH, EL, \TH, \TL
    store \TH, \TL, \h
.endm

#define R_A r6, r7
#define R_T r8, r9
#define R_X r10, r11
#define R_P r12, r13

/* W(t) = sigma1(W(t - 2)) + W(t - 7) + sigma0(W(t - 15)) + W(t - 16) in place of W(t - 16).
   VH, VL hold W(t - 2) and get W(t). */
.macro schedule VH, VL, t7, t15, t16
    load EH, EL, \t16
    add \t7(sp), EL
    addc \t7+2(sp), EH
    /* sigma1: right by 16 + 1 and 16 + 3, shift by 10 = rotate by 2 and 8, and clear 10 bits */
    rotr1 \VH, \VL
    copy \VH, \VL, r8, r9
    rotr1 \VH, \VL
    copy \VH, \VL, r10, r11
    rotr1 \VH, \VL
    xor32 \VH, \VL, r8, r9
    swpb r10
    swpb r11
    mov.b r11, r11
    mov.b r10, \VH
    xor \VH, r10
    bis r10, r11
    and #0x3f, \VH
    xor32 r11, \VH, r8, r9
    add32 r9, r8, EH, EL
    /* sigma0: right by 8 and 1 left, by 16 + 2, shift by 3 = rotate by 3 and clear 3 bits */
    load r8, r9, \t15
    copy r8, r9, r10, r11
    rotl1 r10, r11
    rotr8 r10, r11, \VL
    rotr1 r8, r9
    rotr1 r8, r9
    xor32 r9, r8, r10, r11
    rotr1 r8, r9
    and #0x1fff, r8
    xor32 r8, r9, r10, r11
    mov EL, \VL
    mov EH, \VH
    add32 r10, r11, \VH, \VL
    store \VH, \VL, \t16
.endm

    .section .text.sha256_compress, "ax", @progbits
    .global sha256_compress
    .type sha256_compress, @function
    .p2align 1
/* void sha256_compress(uint32_t state[8], const uint8_t *data, size_t blocks) */
sha256_compress:
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
    mov r12, STATE
    mov r13, DATA
    mov r14, BLOCKS
    mov sp, r15
    add #RING+64, r15
    mov r15, RING_END

.Lblock:
    mov DATA, r13
    mov sp, W
    add #RING, W
    bit #1, r13
    jnz .Lunaligned
.Laligned:
    mov @r13+, r5
    mov @r13+, r4
    swpb r5
    swpb r4
    mov r4, 0(W)
    mov r5, 2(W)
    add #4, W
    cmp RING_END, W
    jne .Laligned
    jmp .Lloaded
.Lunaligned:
    .irp byte, 3, 2, 1, 0
    mov.b @r13+, r4
    mov.b r4, \byte(W)
    .endr
    add #4, W
    cmp RING_END, W
    jne .Lunaligned
.Lloaded:
    mov r13, DATA

    mov STATE, r13
    .irp word, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
    mov @r13+, r12
    mov r12, \word(sp)
    .endr
    mov #.Lconstants, K

.Lsixteen_rounds:
    load r6, r7, 0
    load r10, r11, 4
    xor 8(sp), r11
    xor 8+2(sp), r10
    mov sp, W
    add #RING, W
.Leight_rounds:
    round R_A, R_T, R_X, R_P, 0, 4, 8, 12, 16, 20, 24, 28
    round R_T, R_A, R_P, R_X, 28, 0, 4, 8, 12, 16, 20, 24
    round R_A, R_T, R_X, R_P, 24, 28, 0, 4, 8, 12, 16, 20
    round R_T, R_A, R_P, R_X, 20, 24, 28, 0, 4, 8, 12, 16
    round R_A, R_T, R_X, R_P, 16, 20, 24, 28, 0, 4, 8, 12
    round R_T, R_A, R_P, R_X, 12, 16, 20, 24, 28, 0, 4, 8
    round R_A, R_T, R_X, R_P, 8, 12, 16, 20, 24, 28, 0, 4
    round R_T, R_A, R_P, R_X, 4, 8, 12, 16, 20, 24, 28, 0
    cmp RING_END, W
    jeq .Lring_used
    br #.Leight_rounds
.Lring_used:
    cmp #.Lconstants_end, K
    jne .Lschedule
    br #.Lfeed_forward

.Lschedule:
    mov K, CONSTANT
    load r12, r13, 88
    load r14, r15, 92
    schedule r12, r13, 68, 36, 32
    schedule r14, r15, 72, 40, 36
    schedule r12, r13, 76, 44, 40
    schedule r14, r15, 80, 48, 44
    schedule r12, r13, 84, 52, 48
    schedule r14, r15, 88, 56, 52
    schedule r12, r13, 92, 60, 56
    schedule r14, r15, 32, 64, 60
    schedule r12, r13, 36, 68, 64
    schedule r14, r15, 40, 72, 68
    schedule r12, r13, 44, 76, 72
    schedule r14, r15, 48, 80, 76
    schedule r12, r13, 52, 84, 80
    schedule r14, r15, 56, 88, 84
    schedule r12, r13, 60, 92, 88
    schedule r14, r15, 64, 32, 92
    mov CONSTANT, K
    br #.Lsixteen_rounds

.Lfeed_forward:
    mov STATE, r15
    .irp word, 0, 4, 8, 12, 16, 20, 24, 28
    load r12, r13, \word
    add r13, \word(r15)
    addc r12, \word+2(r15)
    .endr
    dec BLOCKS
    jz .Lwipe
    br #.Lblock

.Lwipe:
    add #RING+64, sp
    .rept (RING+64)/2
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
    .size sha256_compress, . - sha256_compress

    .section .rodata.sha256_compress, "a", @progbits
    .p2align 1
.Lconstants:
    .long 0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1
    .long 0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3
    .long 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786
    .long 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da
    .long 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147
    .long 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13
    .long 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b
    .long 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070
    .long 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a
    .long 0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208
    .long 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2
.Lconstants_end:
