/* void SCT(uint8_t *block)

   The square-complete transform, in place. An implementation defines the name in a .S file and
   includes this there. */
#include "curupira-round-msp430.inc"

    .section .text.curupira_sct, "ax", @progbits
    .global SCT
    .type   SCT, @function
SCT:
    push    r4
    push    r5
    push    r6
    push    r7
    push    r8
    push    r9
    push    r10
    push    r11
    push    r12
    mov     #4, K
    load_columns r12, W0, W1, X01
    load_columns r12, W2, W3, X23
.Lsct_round:
    clr     N0
    clr     N1
    columns W0, W1, X23, N0, N1, NX
    clr     W0
    clr     W1
    columns W2, W3, X01, W0, W1, X23
    mov     W0, W2
    mov     W1, W3
    mov     N0, W0
    mov     N1, W1
    mov     NX, X01
    dec     K
    jnz     .Lsct_round

    pop     C
    mov.b   W0, 0(C)
    swpb    W0
    mov.b   W0, 1(C)
    mov.b   X01, 2(C)
    mov.b   W1, 3(C)
    swpb    W1
    mov.b   W1, 4(C)
    swpb    X01
    mov.b   X01, 5(C)
    mov.b   W2, 6(C)
    swpb    W2
    mov.b   W2, 7(C)
    mov.b   X23, 8(C)
    mov.b   W3, 9(C)
    swpb    W3
    mov.b   W3, 10(C)
    swpb    X23
    mov.b   X23, 11(C)
    pop     r11
    pop     r10
    pop     r9
    pop     r8
    pop     r7
    pop     r6
    pop     r5
    pop     r4
    ret
    .size   SCT, . - SCT
