/* void sha1_compress(uint32_t h[5], const uint8_t *block)

   The message schedule is computed first. Then the five working variables stay in registers and are
   renamed from round to round. */

#define AL r4
#define AH r5
#define BL r6
#define BH r7
#define CL r8
#define CH r9
#define DL r10
#define DH r11
#define EL r12
#define EH r13
#define TL r14
#define TH r15

/* The frame: 80 words of the schedule, low half first, then these. */
#define NEXT 320(sp)    /* the word at which the next rounds begin */
#define END 322(sp)     /* the word at which this phase ends */
#define STATE 324(sp)
#define FRAME_BYTES 324

.macro add_t eh, el
    add     TL, \el
    addc    TH, \eh
.endm

/* The end of a round in any phase; the phase's function of b, c, d has been added to e. */
.macro finish i, kh, kl, ah, al, bh, bl, eh, el
    mov     \al, TL
    mov     \ah, TH
    .rept   5
    rla     TL
    rlc     TH
    adc     TL
    .endr
    add_t   \eh, \el
    add     #\kl, \el
    addc    #\kh, \eh
    mov     NEXT, TL
    add     4 * \i(TL), \el
    addc    4 * \i + 2(TL), \eh
    .rept   2
    bit     #1, \bl
    rrc     \bh
    rrc     \bl
    .endr
.endm

.macro choose i, ah, al, bh, bl, ch, cl, dh, dl, eh, el
    mov     \cl, TL
    mov     \ch, TH
    xor     \dl, TL
    xor     \dh, TH
    and     \bl, TL
    and     \bh, TH
    xor     \dl, TL
    xor     \dh, TH
    add_t   \eh, \el
    finish  \i, 0x5a82, 0x7999, \ah, \al, \bh, \bl, \eh, \el
.endm

.macro add_parity ah, al, bh, bl, ch, cl, dh, dl, eh, el
    mov     \bl, TL
    mov     \bh, TH
    xor     \cl, TL
    xor     \ch, TH
    xor     \dl, TL
    xor     \dh, TH
    add_t   \eh, \el
.endm

.macro parity i, ah, al, bh, bl, ch, cl, dh, dl, eh, el
    add_parity \ah, \al, \bh, \bl, \ch, \cl, \dh, \dl, \eh, \el
    finish  \i, 0x6ed9, 0xeba1, \ah, \al, \bh, \bl, \eh, \el
.endm

/* b c + b d + c d is b c or d (b + c), which never have a bit in common. */
.macro majority i, ah, al, bh, bl, ch, cl, dh, dl, eh, el
    mov     \bl, TL
    mov     \bh, TH
    and     \cl, TL
    and     \ch, TH
    add_t   \eh, \el
    mov     \bl, TL
    mov     \bh, TH
    xor     \cl, TL
    xor     \ch, TH
    and     \dl, TL
    and     \dh, TH
    add_t   \eh, \el
    finish  \i, 0x8f1b, 0xbcdc, \ah, \al, \bh, \bl, \eh, \el
.endm

.macro parity2 i, ah, al, bh, bl, ch, cl, dh, dl, eh, el
    add_parity \ah, \al, \bh, \bl, \ch, \cl, \dh, \dl, \eh, \el
    finish  \i, 0xca62, 0xc1d6, \ah, \al, \bh, \bl, \eh, \el
.endm

/* Twenty rounds, five at a time. */
.macro phase function
    add     #80, END
.Lphase_\function:
    \function 0, AH, AL, BH, BL, CH, CL, DH, DL, EH, EL
    \function 1, EH, EL, AH, AL, BH, BL, CH, CL, DH, DL
    \function 2, DH, DL, EH, EL, AH, AL, BH, BL, CH, CL
    \function 3, CH, CL, DH, DL, EH, EL, AH, AL, BH, BL
    \function 4, BH, BL, CH, CL, DH, DL, EH, EL, AH, AL
    add     #20, NEXT
    cmp     NEXT, END
    jeq     .Lend_\function
    br      #.Lphase_\function
.Lend_\function:
.endm

.macro add_to_state offset, h, l
    add     \l, \offset(TL)
    addc    \h, \offset + 2(TL)
.endm

    .section .text.sha1_compress, "ax", @progbits
    .global sha1_compress
    .type   sha1_compress, @function
sha1_compress:
    push    r4
    push    r5
    push    r6
    push    r7
    push    r8
    push    r9
    push    r10
    push    r11
    push    r12
    sub     #FRAME_BYTES, sp

    /* Converts big-endian bytes of the block, which may be unaligned, to words. */
    mov     sp, r14
    mov     #16, r15
.Lload:
    mov.b   @r13+, r11
    mov.b   @r13+, r10
    swpb    r11
    bis     r10, r11
    mov.b   @r13+, r10
    mov.b   @r13+, r9
    swpb    r10
    bis     r9, r10
    mov     r10, 0(r14)
    mov     r11, 2(r14)
    add     #4, r14
    dec     r15
    jnz     .Lload

    mov     #64, r15
.Lschedule:
    mov     -12(r14), r10
    mov     -10(r14), r11
    xor     -32(r14), r10
    xor     -30(r14), r11
    xor     -56(r14), r10
    xor     -54(r14), r11
    xor     -64(r14), r10
    xor     -62(r14), r11
    rla     r10
    rlc     r11
    adc     r10
    mov     r10, 0(r14)
    mov     r11, 2(r14)
    add     #4, r14
    dec     r15
    jnz     .Lschedule

    mov     sp, NEXT
    mov     sp, END
    mov     r12, TL
    mov     @TL+, AL
    mov     @TL+, AH
    mov     @TL+, BL
    mov     @TL+, BH
    mov     @TL+, CL
    mov     @TL+, CH
    mov     @TL+, DL
    mov     @TL+, DH
    mov     @TL+, EL
    mov     @TL+, EH
    phase   choose
    phase   parity
    phase   majority
    phase   parity2
    mov     STATE, TL
    add_to_state 0, AH, AL
    add_to_state 4, BH, BL
    add_to_state 8, CH, CL
    add_to_state 12, DH, DL
    add_to_state 16, EH, EL

    mov     #80, r15                /* wipe the schedule and free its space */
.Lwipe:
    clr     0(sp)
    clr     2(sp)
    add     #4, sp
    dec     r15
    jnz     .Lwipe
    add     #FRAME_BYTES - 320 + 2, sp
    pop     r11
    pop     r10
    pop     r9
    pop     r8
    pop     r7
    pop     r6
    pop     r5
    pop     r4
    ret
    .size   sha1_compress, . - sha1_compress
