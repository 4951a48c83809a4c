/* Assembler macros for 32-bit words in two registers, h the high half and l the low one. A rotation
   by 16 costs nothing: name the halves the other way round. */

/* 3 cycles */
.macro rotl1 h, l
    rla \l
    rlc \h
    adc \l
.endm

/* 3 cycles */
.macro rotr1 h, l
    bit #1, \l
    rrc \h
    rrc \l
.endm

/* 6 cycles: the low bytes change places, then the bytes of each half. t is overwritten. */
.macro rotr8 h, l, t
    mov.b \h, \t
    xor.b \l, \t
    xor \t, \h
    xor \t, \l
    swpb \h
    swpb \l
.endm

/* 6 cycles. t is overwritten. */
.macro rotl8 h, l, t
    swpb \h
    swpb \l
    mov.b \h, \t
    xor.b \l, \t
    xor \t, \h
    xor \t, \l
.endm
