/* Keccak-f[1600] on interleaved lanes (keccak.h). A round reads the state from one buffer and writes
   it to the other, one word of five lanes (a part of a row) at a time:

     in    = A[x, y] ^ D[x] for the five lanes that pi moves to the row, each word rotated (theta,
             rho, pi: FIPS 202, 3.2.1 to 3.2.3)
     out   = in ^ (not next and next but one)                       (chi: 3.2.4)
     C    ^= out, the column parities that the next round's theta needs

   Offsets are in bytes; lane (x, y) is at 8 x + 40 y, its word w at + 2 w. */

#define B0 r4
#define B1 r5
#define B2 r6
#define B3 r7
#define B4 r8
#define T r9
#define C0 r10
#define C1 r11
#define C2 r12
#define C3 r13
#define FROM r14
#define TO r15

/* The frame: D and C, words in lanes x = 0 .. 4, then the second buffer. */
#define D_OFFSET 0
#define C_OFFSET 40
#define BUFFER_OFFSET 80
#define CONSTANTS 280(sp)
#define FRAME_BYTES 282

.macro rotl1 r
    rla \r
    adc \r
.endm

.macro rotr1 r
    bit #1, \r
    rrc \r
.endm

/* Rotates left by q. */
.macro rotl r, q
    .if \q > 4 && \q < 12
    swpb \r
    rotl_few \r, \q-8
    .elseif \q >= 12
    rotl_few \r, \q-16
    .else
    rotl_few \r, \q
    .endif
.endm

/* Rotates left by q, right if it is negative. */
.macro rotl_few r, q
    .if \q > 0
    rotl1 \r
    rotl_few \r, \q-1
    .elseif \q < 0
    rotr1 \r
    rotl_few \r, \q+1
    .endif
.endm

/* Word j of lane (x, y) after theta and a rotation by n. It comes from word w = j - n mod 4,
   rotated by (n + w - j) / 4. */
.macro lane b, x, y, n, j
    mov \x*8+\y*40+((\j-\n)&3)*2(FROM), \b
    xor D_OFFSET+\x*8+((\j-\n)&3)*2(sp), \b
    rotl \b, 0-(\j-\n-((\j-\n)&3))/4
.endm

/* Word j of lane (x, y) of the output: b0 ^ (not b1 and b2). op is mov for the first row. */
.macro chi op, x, y, j, b0, b1, b2, c
    mov \b2, T
    bic \b1, T
    xor \b0, T
    mov T, \x*8+\y*40+\j*2(TO)
    .ifnb \c
    \op T, \c
    .endif
.endm

/* Word j of row y of the output, from lanes (x0, 0), (x1, 1) ... rotated by n0, n1 ... */
.macro row op, j, y, x0, n0, x1, n1, x2, n2, x3, n3, x4, n4
    lane B0, \x0, 0, \n0, \j
    lane B1, \x1, 1, \n1, \j
    lane B2, \x2, 2, \n2, \j
    lane B3, \x3, 3, \n3, \j
    lane B4, \x4, 4, \n4, \j
    chi \op, 1, \y, \j, B1, B2, B3, C1
    chi \op, 2, \y, \j, B2, B3, B4, C2
    chi \op, 3, \y, \j, B3, B4, B0, C3
    chi \op, 4, \y, \j, B4, B0, B1
    .ifc \op, mov
    mov CONSTANTS, T
    xor \j*2(T), B0
    .endif
    chi \op, 0, \y, \j, B0, B1, B2, C0
.endm

/* Word j of all lanes: pi moves lane (x + 3 y, x) to (x, y); rho's offsets are those of FIPS 202,
   table 2, modulo 64. No register is left for column 4's parity. */
.macro slice j
    row mov, \j, 0, 0, 0, 1, 44, 2, 43, 3, 21, 4, 14
    row xor, \j, 1, 3, 28, 4, 20, 0, 3, 1, 45, 2, 61
    row xor, \j, 2, 1, 1, 2, 6, 3, 25, 4, 8, 0, 18
    row xor, \j, 3, 4, 27, 0, 36, 1, 10, 2, 15, 3, 56
    row xor, \j, 4, 2, 62, 3, 55, 4, 39, 0, 41, 1, 2
    mov C0, C_OFFSET+0+\j*2(sp)
    mov C1, C_OFFSET+8+\j*2(sp)
    mov C2, C_OFFSET+16+\j*2(sp)
    mov C3, C_OFFSET+24+\j*2(sp)
    mov 32+\j*2(TO), T
    xor 72+\j*2(TO), T
    xor 112+\j*2(TO), T
    xor 152+\j*2(TO), T
    xor 192+\j*2(TO), T
    mov T, C_OFFSET+32+\j*2(sp)
.endm

.macro load_parities j, c0, c1, c2, c3, c4
    mov C_OFFSET+0+\j*2(sp), \c0
    mov C_OFFSET+8+\j*2(sp), \c1
    mov C_OFFSET+16+\j*2(sp), \c2
    mov C_OFFSET+24+\j*2(sp), \c3
    mov C_OFFSET+32+\j*2(sp), \c4
.endm

/* D[x] = C[x - 1] ^ (C[x + 1] rotated left by one), word j. r0 .. r4 hold word j of the rotated
   lanes, which is word j - 1 of C. c0 .. c4 get word j of C. */
.macro theta j, r0, r1, r2, r3, r4, c0, c1, c2, c3, c4
    load_parities \j, \c0, \c1, \c2, \c3, \c4
    xor \c4, \r1
    xor \c0, \r2
    xor \c1, \r3
    xor \c2, \r4
    xor \c3, \r0
    mov \r1, D_OFFSET+0+\j*2(sp)
    mov \r2, D_OFFSET+8+\j*2(sp)
    mov \r3, D_OFFSET+16+\j*2(sp)
    mov \r4, D_OFFSET+24+\j*2(sp)
    mov \r0, D_OFFSET+32+\j*2(sp)
.endm

    .section .text.keccak_f1600, "ax", @progbits
    .weak keccak_f1600 ; several primitives of an image may have it
    .type keccak_f1600, @function
    .p2align 1
/* void keccak_f1600(keccak_lane state[25]) */
keccak_f1600:
    push r4
    push r5
    push r6
    push r7
    push r8
    push r9
    push r10
    sub #FRAME_BYTES, sp
    mov #.Lconstants, CONSTANTS
    mov r12, FROM
    mov sp, TO
    add #BUFFER_OFFSET, TO
    mov FROM, r4
    mov sp, r5
    add #C_OFFSET, r5
    mov #20, r6
.Lparity:
    mov @r4+, T
    xor 40-2(r4), T
    xor 80-2(r4), T
    xor 120-2(r4), T
    xor 160-2(r4), T
    mov T, 0(r5)
    incd r5
    dec r6
    jnz .Lparity

.Lround:
    load_parities 3, B0, B1, B2, B3, B4
    .irp r, B0, B1, B2, B3, B4
    rotl1 \r
    .endr
    theta 0, B0, B1, B2, B3, B4, C0, C1, C2, C3, T
    theta 1, C0, C1, C2, C3, T, B0, B1, B2, B3, B4
    theta 2, B0, B1, B2, B3, B4, C0, C1, C2, C3, T
    theta 3, C0, C1, C2, C3, T, B0, B1, B2, B3, B4
    slice 0
    slice 1
    slice 2
    slice 3
    mov FROM, T
    mov TO, FROM
    mov T, TO
    add #8, CONSTANTS
    cmp #.Lconstants_end, CONSTANTS
    jeq .Ldone
    br #.Lround
.Ldone:
    add #FRAME_BYTES, sp
    mov #FRAME_BYTES/2, r4
.Lwipe:
    push #0
    dec r4
    jnz .Lwipe
    add #FRAME_BYTES, sp
    pop r10
    pop r9
    pop r8
    pop r7
    pop r6
    pop r5
    pop r4
    ret
    .size keccak_f1600, . - keccak_f1600

/* The round constants (FIPS 202, 3.2.5), interleaved. */
    .section .rodata.keccak_f1600, "a", @progbits
    .p2align 1
.Lconstants:
    .short 0x0001, 0x0000, 0x0000, 0x0000, 0x0000, 0x0001, 0x0000, 0x000a
    .short 0x0000, 0x0001, 0x0000, 0x800b, 0x0000, 0x0000, 0x0000, 0x8088
    .short 0x0001, 0x0001, 0x0000, 0x000b, 0x0001, 0x0000, 0x0000, 0x0080
    .short 0x0001, 0x0000, 0x0000, 0x808a, 0x0001, 0x0000, 0x0000, 0x8009
    .short 0x0000, 0x0001, 0x0000, 0x0003, 0x0000, 0x0000, 0x0000, 0x0003
    .short 0x0001, 0x0000, 0x0000, 0x0089, 0x0000, 0x0001, 0x0000, 0x0081
    .short 0x0001, 0x0001, 0x0000, 0x008b, 0x0001, 0x0001, 0x0000, 0x8003
    .short 0x0001, 0x0000, 0x0000, 0x800b, 0x0001, 0x0001, 0x0000, 0x8008
    .short 0x0000, 0x0001, 0x0000, 0x8008, 0x0000, 0x0000, 0x0000, 0x8002
    .short 0x0000, 0x0001, 0x0000, 0x0009, 0x0000, 0x0001, 0x0000, 0x8081
    .short 0x0001, 0x0000, 0x0000, 0x808a, 0x0000, 0x0000, 0x0000, 0x800a
    .short 0x0001, 0x0000, 0x0000, 0x0080, 0x0000, 0x0000, 0x0000, 0x8089
.Lconstants_end:
