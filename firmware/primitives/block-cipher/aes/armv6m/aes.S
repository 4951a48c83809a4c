/* AES with tables. Of the state's columns, s0 is in an upper register, s1, s2 and s3 in lower ones.
   A round computes columns 0 and 1, then 2 and 3, each from one byte of each row: a table has the
   four columns that a byte adds, by its row, side by side, and r6 points to those of one row. */
    .syntax unified
    .thumb

/* The frame. */
#define BUFFER_BYTES 16 /* for a block at unaligned addresses; at the bottom */
#define CTX (BUFFER_BYTES + 8)
#define OUT (CTX + 4)
#define IN (CTX + 8)
#define BLOCKS (CTX + 12)

/* Registers that keep their meaning: r5 an index, r7 its mask, r12 the round keys' address, lr
   column 1. */
.macro index s, row, upper
    .if     \upper
    mov     r5, \s
    .if     \row == 0
    lsls    r5, r5, #4
    .else
    lsrs    r5, r5, #8 * (\row) - 4
    .endif
    .elseif \row == 0
    lsls    r5, \s, #4
    .else
    lsrs    r5, \s, #8 * (\row) - 4
    .endif
    ands    r5, r5, r7
.endm

/* Adds what a byte of \s, in the row that r6 points to, adds to the column \o. */
.macro look_up o, s, row, upper=0
    index   \s, \row, \upper
    ldr     r5, [r6, r5]
    eors    \o, \o, r5
.endm

/* Loads the next two words of the round keys. */
.macro load_keys oa, ob
    mov     r5, r12
    ldmia   r5!, {\oa, \ob}
    mov     r12, r5
.endm

/* A round of encryption, from s0 in an upper register to new0 in one; the new s1 is in \s1, and s2
   and s3 in \oa and \ob. */
.macro encrypt_round s0, s1, s2, s3, oa, ob, new0
    load_keys \oa, \ob
    look_up \oa, \s0, 0, 1
    look_up \ob, \s1, 0
    adds    r6, #4
    look_up \oa, \s1, 1
    look_up \ob, \s2, 1
    adds    r6, #4
    look_up \oa, \s2, 2
    look_up \ob, \s3, 2
    adds    r6, #4
    look_up \oa, \s3, 3
    look_up \ob, \s0, 3, 1
    mov     \new0, \oa
    mov     lr, \ob
    load_keys \oa, \ob
    look_up \oa, \s1, 3
    look_up \ob, \s2, 3
    subs    r6, #4
    look_up \oa, \s0, 2, 1
    look_up \ob, \s1, 2
    subs    r6, #4
    look_up \oa, \s3, 1
    look_up \ob, \s0, 1, 1
    subs    r6, #4
    look_up \oa, \s2, 0
    look_up \ob, \s3, 0
    mov     \s1, lr
.endm

.macro decrypt_round s0, s1, s2, s3, oa, ob, new0
    load_keys \oa, \ob
    look_up \oa, \s0, 0, 1
    look_up \ob, \s1, 0
    adds    r6, #4
    look_up \oa, \s3, 1
    look_up \ob, \s0, 1, 1
    adds    r6, #4
    look_up \oa, \s2, 2
    look_up \ob, \s3, 2
    adds    r6, #4
    look_up \oa, \s1, 3
    look_up \ob, \s2, 3
    mov     \new0, \oa
    mov     lr, \ob
    load_keys \oa, \ob
    look_up \oa, \s3, 3
    look_up \ob, \s0, 3, 1
    subs    r6, #4
    look_up \oa, \s0, 2, 1
    look_up \ob, \s1, 2
    subs    r6, #4
    look_up \oa, \s1, 1
    look_up \ob, \s2, 1
    subs    r6, #4
    look_up \oa, \s2, 0
    look_up \ob, \s3, 0
    mov     \s1, lr
.endm

/* The last round: bytes of the S-box at r6 in place of columns, for the inverse not side by side
   with others. */
.macro substitute o, s, row, upper=0
    index   \s, \row, \upper
    .if     inverse
    lsrs    r5, r5, #4
    .endif
    ldrb    r5, [r6, r5]
    .if     \row
    lsls    r5, r5, #8 * (\row)
    .endif
    eors    \o, \o, r5
.endm

.macro last_column o, s0, s1, s2, s3, upper0=0, upper1=0, upper2=0, upper3=0
    substitute \o, \s0, 0, \upper0
    substitute \o, \s1, 1, \upper1
    substitute \o, \s2, 2, \upper2
    substitute \o, \s3, 3, \upper3
.endm

/* Leaves columns 0 to 3 in r1 to r4. In: s0 to s3 in r9, r1, r0 and r2. */
.macro last_round
    load_keys r3, r4
    .if     inverse
    last_column r3, r9, r2, r0, r1, 1
    last_column r4, r1, r9, r2, r0, 0, 1
    .else
    last_column r3, r9, r1, r0, r2, 1
    last_column r4, r1, r0, r2, r9, 0, 0, 0, 1
    .endif
    mov     r8, r3
    mov     lr, r4
    load_keys r3, r4
    .if     inverse
    last_column r3, r0, r1, r9, r2, 0, 0, 1
    last_column r4, r2, r0, r1, r9, 0, 0, 0, 1
    .else
    last_column r3, r0, r2, r9, r1, 0, 0, 1
    last_column r4, r2, r9, r1, r0, 0, 1
    .endif
    mov     r1, r8
    mov     r2, lr
.endm

/* aes_encrypt or aes_decrypt, with \keys bytes of the context before its round keys and \sbox bytes
   of \table before the S-box. */
.macro blocks round, keys, table, sbox
    push    {r0-r7, lr}
    ldr     r6, .Ltable\@
    cmp     r3, #0
    bne     .Lany\@
    pop     {r0-r7, pc}
    .p2align 2
.Ltable\@:
    .word   \table

.Lunaligned\@:
    mov     r5, sp
    movs    r4, #16
1:  subs    r4, #1
    ldrb    r0, [r2, r4]
    strb    r0, [r5, r4]
    bne     1b
    ldmia   r5!, {r0, r1, r3, r4}
    b       .Lloaded\@

.Lany\@:
    mov     r4, r8
    mov     r5, r9
    push    {r4, r5}
    sub     sp, #BUFFER_BYTES
    movs    r7, r0
.Lblock\@:
    lsls    r0, r2, #30
    bne     .Lunaligned\@
    ldmia   r2!, {r0, r1, r3, r4}
.Lloaded\@:
    .if     \keys
    adds    r7, #\keys
    .endif
    ldmia   r7!, {r2, r5}
    eors    r0, r0, r2
    eors    r1, r1, r5
    ldmia   r7!, {r2, r5}
    eors    r3, r3, r2
    eors    r4, r4, r5
    mov     r12, r7
    mov     r8, r0
    movs    r7, #0xff
    lsls    r7, r7, #4
    .rept   AES_KEY_BITS / 64 + 2
    \round  r8, r1, r3, r4, r0, r2, r9
    \round  r9, r1, r0, r2, r3, r4, r8
    .endr
    \round  r8, r1, r3, r4, r0, r2, r9
    .if     inverse
    movs    r5, #\sbox >> 8
    lsls    r5, r5, #8
    adds    r6, r6, r5
    .else
    adds    r6, #\sbox
    .endif
    last_round
    ldr     r5, [sp, #OUT]
    lsls    r0, r5, #30
    bne     .Lscatter\@
    stmia   r5!, {r1-r4}
.Lstored\@:
    ldr     r3, [sp, #BLOCKS]
    subs    r3, #1
    beq     .Lleave\@
    str     r3, [sp, #BLOCKS]
    str     r5, [sp, #OUT]
    ldr     r2, [sp, #IN]
    adds    r2, #16
    str     r2, [sp, #IN]
    .if     inverse
    movs    r5, #\sbox >> 8
    lsls    r5, r5, #8
    subs    r6, r6, r5
    .else
    subs    r6, #\sbox
    .endif
    ldr     r7, [sp, #CTX]
    bl      .Lblock\@

.Lleave\@:
    movs    r0, #0
    mov     lr, r0
    add     sp, #BUFFER_BYTES
    pop     {r4, r5}
    mov     r8, r4
    mov     r9, r5
    pop     {r0-r7, pc}

.Lscatter\@:
    mov     r0, sp
    stmia   r0!, {r1-r4}
    subs    r0, #16
    movs    r3, #16
1:  subs    r3, #1
    ldrb    r1, [r0, r3]
    strb    r1, [r5, r3]
    bne     1b
    movs    r1, #0
    movs    r2, #0
    movs    r4, #0
    stmia   r0!, {r1-r4}
    adds    r5, #16
    b       .Lstored\@
.endm

/* void aes_encrypt(const aes_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) */
    .section .text.aes_encrypt, "ax", %progbits
    .global aes_encrypt
    .type   aes_encrypt, %function
    .thumb_func
    .p2align 2
aes_encrypt:
    .set    inverse, 0
    blocks  encrypt_round, 0, aes_table, 1
    .size   aes_encrypt, . - aes_encrypt

/* void aes_decrypt(const aes_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) */
    .section .text.aes_decrypt, "ax", %progbits
    .global aes_decrypt
    .type   aes_decrypt, %function
    .thumb_func
    .p2align 2
aes_decrypt:
    .set    inverse, 1
    blocks  decrypt_round, 16 * (AES_KEY_BITS / 32 + 7), aes_inverse_table, 4096
    .size   aes_decrypt, . - aes_decrypt
