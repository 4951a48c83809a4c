/* void poly1305_blocks(poly1305_ctx *ctx, const uint8_t *data, size_t blocks, unsigned top) */

/* The hardware multiplier: SLAU049F, chapter 7. A write to OP2 starts it. */
#define MAC &0x0134
#define OP2 &0x0138
#define RESLO &0x013a
#define RESHI &0x013c
#define SUMEXT &0x013e

/* r is in r4 to r11 during the multiplication. */
#define C r12 /* third word of a column */
#define T r13
#define P r14
#define CTX r15

/* The frame: the sum with the message, the product, and the arguments. */
#define SUM 0
#define PRODUCT 18
#define ARG_TOP 50(sp)
#define ARG_BLOCKS 52(sp)
#define ARG_DATA 54(sp)
#define ARG_CTX 56(sp)
#define FRAME_BYTES 50

/* Word i of the sum: h plus the next two bytes, which may be unaligned. No instruction but addc
   changes the carry. */
.macro add_message i
    mov.b @P+, T
    mov.b @P+, C
    swpb C
    bis C, T
    addc 2*(8+\i)(CTX), T
    mov T, SUM+2*\i(sp)
.endm

/* r[i] sum[k - i], if these exist. */
.macro product k, i, r
    .if \k >= \i && \k-\i <= 8
    mov \r, MAC
    mov SUM+2*(\k-\i)(sp), OP2
    .endif
.endm

.macro product_with_carry k, i, r
    product \k, \i, \r
    .if \k >= \i && \k-\i <= 8
    add SUMEXT, C
    .endif
.endm

/* Word k of the product. The odd words of r are below 2^12 (RFC 8439, section 2.5.1): with the
   previous column's carry, below 2^20, four products with them stay below 2^31. */
.macro column k
    clr C
    product \k, 1, r5
    product \k, 3, r7
    product \k, 5, r9
    product \k, 7, r11
    product_with_carry \k, 0, r4
    product_with_carry \k, 2, r6
    product_with_carry \k, 4, r8
    product_with_carry \k, 6, r10
    mov RESLO, PRODUCT+2*\k(sp)
    mov RESHI, RESLO
    mov C, RESHI
.endm

    .section .text.poly1305_blocks, "ax", @progbits
    .global poly1305_blocks
    .type poly1305_blocks, @function
    .p2align 1
poly1305_blocks:
    push r4
    push r5
    push r6
    push r7
    push r8
    push r9
    push r10
    push r12
    push r13
    push r14
    push r15
    sub #FRAME_BYTES, sp
.Lblock:
    mov ARG_CTX, CTX
    mov ARG_DATA, P
    clrc
    .irp i, 0, 1, 2, 3, 4, 5, 6, 7
    add_message \i
    .endr
    mov 2*(8+8)(CTX), T
    addc ARG_TOP, T
    mov T, SUM+2*8(sp)
    mov P, ARG_DATA

    mov @CTX+, r4
    mov @CTX+, r5
    mov @CTX+, r6
    mov @CTX+, r7
    mov @CTX+, r8
    mov @CTX+, r9
    mov @CTX+, r10
    mov @CTX+, r11
    clr RESLO
    clr RESHI
    .irp k, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    column \k
    .endr

    /* Reduce: the part below 2^130, plus 4 q, plus q. The sum is below 2^131, so the product is
       below 2^255. */
    mov PRODUCT+16(sp), r4
    mov PRODUCT+18(sp), r5
    mov PRODUCT+20(sp), r6
    mov PRODUCT+22(sp), r7
    mov PRODUCT+24(sp), r8
    mov PRODUCT+26(sp), r9
    mov PRODUCT+28(sp), r10
    mov PRODUCT+30(sp), r11
    mov r4, T
    and #3, T
    bic #3, r4
    add r4, PRODUCT(sp)
    addc r5, PRODUCT+2(sp)
    addc r6, PRODUCT+4(sp)
    addc r7, PRODUCT+6(sp)
    addc r8, PRODUCT+8(sp)
    addc r9, PRODUCT+10(sp)
    addc r10, PRODUCT+12(sp)
    addc r11, PRODUCT+14(sp)
    adc T
    .rept 2
    clrc
    rrc r11
    rrc r10
    rrc r9
    rrc r8
    rrc r7
    rrc r6
    rrc r5
    rrc r4
    .endr
    add PRODUCT(sp), r4
    addc PRODUCT+2(sp), r5
    addc PRODUCT+4(sp), r6
    addc PRODUCT+6(sp), r7
    addc PRODUCT+8(sp), r8
    addc PRODUCT+10(sp), r9
    addc PRODUCT+12(sp), r10
    addc PRODUCT+14(sp), r11
    adc T
    mov r4, 0(CTX)
    mov r5, 2(CTX)
    mov r6, 4(CTX)
    mov r7, 6(CTX)
    mov r8, 8(CTX)
    mov r9, 10(CTX)
    mov r10, 12(CTX)
    mov r11, 14(CTX)
    mov T, 16(CTX)
    dec ARG_BLOCKS
    jz .Ldone
    br #.Lblock

.Ldone:
    mov #FRAME_BYTES/2, T           /* wipe the sum and the product */
.Lwipe:
    clr 0(sp)
    incd sp
    dec T
    jnz .Lwipe
    add #8, sp
    pop r10
    pop r9
    pop r8
    pop r7
    pop r6
    pop r5
    pop r4
    ret
    .size poly1305_blocks, . - poly1305_blocks
