; Keccak-p[400] for MSP430.
;
; unsigned keccak_p400_rounds(uint16_t *lanes, unsigned rounds, unsigned current)
;   r12: two consecutive states of 25 lanes, lane (x, y) at 2(5y + x)
;   r13: how many of the last rounds of Keccak-f[400] to run
;   r14: 0 or 1, the initial state; r12 returns the one that holds the result
;
; A round reads one state and writes the other, so pi costs nothing: a row of the result is computed
; from the five lanes that pi moves there. r12 base; r4-r8 theta's D[0..4]; r9, r10, r11, r13, r14 a
; row; r15 scratch. The address of the next round constant is on the stack.

.set BYTES, 50                  ; of a state

; Rotations: by 8 with a byte swap, otherwise by one bit in two cycles.
.macro left r, n
        .rept \n
        add     \r, \r
        addc    #0, \r
        .endr
.endm
.macro right r, n
        .rept \n
        bit     #1, \r
        rrc     \r
        .endr
.endm
.macro rotate r, n
        .if \n < 5
        left    \r, \n
        .elseif \n < 9
        swpb    \r
        right   \r, 8-\n
        .elseif \n < 12
        swpb    \r
        left    \r, \n-8
        .else
        right   \r, 16-\n
        .endif
.endm

; b = (lane + D[x]) <<< n: theta, rho and pi of a lane.
.macro fetch b, from, lane, d, n
        mov     \from+2*\lane(r12), \b
        xor     \d, \b
        rotate  \b, \n
.endm

; chi of a row: a[x] = b[x] + (not b[x+1]) b[x+2]. The last three lanes overwrite values that are no
; longer needed.
.macro chi to, row
        mov     r11, r15
        bic     r10, r15
        xor     r9, r15
        mov     r15, \to+10*\row(r12)
        mov     r13, r15
        bic     r11, r15
        xor     r10, r15
        mov     r15, \to+10*\row+2(r12)
        bic     r9, r10
        xor     r14, r10
        mov     r10, \to+10*\row+8(r12)
        bic     r14, r9
        xor     r13, r9
        mov     r9, \to+10*\row+6(r12)
        bic     r13, r14
        xor     r11, r14
        mov     r14, \to+10*\row+4(r12)
.endm

; D = C[x-1] + C[x+1] <<< 1
.macro sum d, before, after
        mov     \after, \d
        left    \d, 1
        xor     \before, \d
.endm

.macro round from, to
        ; theta: the sums of the columns
        mov     r12, r15
        .if \from
        add     #\from, r15
        .endif
        mov     @r15+, r9
        mov     @r15+, r10
        mov     @r15+, r11
        mov     @r15+, r13
        mov     @r15+, r14
        .rept 4
        xor     @r15+, r9
        xor     @r15+, r10
        xor     @r15+, r11
        xor     @r15+, r13
        xor     @r15+, r14
        .endr
        sum     r4, r14, r10
        sum     r5, r9, r11
        sum     r6, r10, r13
        sum     r7, r11, r14
        sum     r8, r13, r9

        fetch   r9,  \from, 0,  r4, 0
        fetch   r10, \from, 6,  r5, 12
        fetch   r11, \from, 12, r6, 11
        fetch   r13, \from, 18, r7, 5
        fetch   r14, \from, 24, r8, 14
        chi     \to, 0
        ; iota
        mov     0(r1), r9
        mov     @r9+, r10
        mov     r9, 0(r1)
        xor     r10, \to(r12)

        fetch   r9,  \from, 3,  r7, 12
        fetch   r10, \from, 9,  r8, 4
        fetch   r11, \from, 10, r4, 3
        fetch   r13, \from, 16, r5, 13
        fetch   r14, \from, 22, r6, 13
        chi     \to, 1

        fetch   r9,  \from, 1,  r5, 1
        fetch   r10, \from, 7,  r6, 6
        fetch   r11, \from, 13, r7, 9
        fetch   r13, \from, 19, r8, 8
        fetch   r14, \from, 20, r4, 2
        chi     \to, 2

        fetch   r9,  \from, 4,  r8, 11
        fetch   r10, \from, 5,  r4, 4
        fetch   r11, \from, 11, r5, 10
        fetch   r13, \from, 17, r6, 15
        fetch   r14, \from, 23, r7, 8
        chi     \to, 3

        fetch   r9,  \from, 2,  r6, 14
        fetch   r10, \from, 8,  r7, 7
        fetch   r11, \from, 14, r8, 7
        fetch   r13, \from, 15, r4, 9
        fetch   r14, \from, 21, r5, 2
        chi     \to, 4

        cmp     #constants_end, 0(r1)
.endm

        .section .text.keccak_p400_rounds, "ax", @progbits
        .globl  keccak_p400_rounds
        .type   keccak_p400_rounds, @function
        .p2align 1
keccak_p400_rounds:
        push    r4
        push    r5
        push    r6
        push    r7
        push    r8
        push    r9
        push    r10
        add     r13, r13
        mov     #constants_end, r15
        sub     r13, r15
        push    r15
        tst     r14
        jz      first
        br      #second
first:
        round   0, BYTES
        jeq     in_second
second:
        round   BYTES, 0
        jeq     in_first
        br      #first
in_first:
        mov     #0, r12
        jmp     done
in_second:
        mov     #1, r12
done:
        add     #2, r1
        pop     r10
        pop     r9
        pop     r8
        pop     r7
        pop     r6
        pop     r5
        pop     r4
        ret
        .size   keccak_p400_rounds, . - keccak_p400_rounds

        ; RC[i] of iota, truncated to 16 bits (FIPS 202, algorithm 5).
        .section .rodata.keccak_p400_constants, "a", @progbits
        .p2align 1
        .word   0x0001, 0x8082, 0x808a, 0x8000, 0x808b, 0x0001, 0x8081, 0x8009, 0x008a, 0x0088
        .word   0x8009, 0x000a, 0x808b, 0x008b, 0x8089, 0x8003, 0x8002, 0x0080, 0x800a, 0x000a
constants_end:
