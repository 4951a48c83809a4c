/* AES rounds with the whole state in registers.

   Lc holds rows 0 and 1 of column c, Hc rows 2 and 3, the even row in the low byte. A round
   computes its output columns in the order 0 to 3, each in two words x and y. Column 0 is pushed
   onto the stack and column 1 stays in X and Y; after that, words of the old state are free for
   columns 2 and 3. */

#define AES_ROUNDS (AES_KEY_BITS / 32 + 6)

#define L0 r4
#define H0 r5
#define L1 r6
#define H1 r7
#define L2 r8
#define H2 r9
#define L3 r10
#define H3 r11
#define X r12
#define Y r13
#define INDEX r14
#define KEY r15

/* The frame, above the saved registers' return address. */
#define LAST_KEY 0(sp)
#define IN 2(sp)
#define OUT 4(sp)
#define BLOCKS 6(sp)
#define FIRST_KEY 8(sp)

.macro enter
    push r4
    push r5
    push r6
    push r7
    push r8
    push r9
    push r10
    push r12 ; FIRST_KEY
    push r15 ; BLOCKS
    push r13 ; OUT
    push r14 ; IN
    add #16*AES_ROUNDS, r12
    push r12 ; LAST_KEY
.endm

.macro leave
    add #10, sp
    pop r10
    pop r9
    pop r8
    pop r7
    pop r6
    pop r5
    pop r4
.endm

/* Loads a block into L0 .. H3 and adds the round key at KEY. */
.macro load_block
    mov IN, Y
    bit #1, Y
    jnz 1f
    .irp word, L0, H0, L1, H1, L2, H2, L3, H3
    mov @Y+, \word
    .endr
    jmp 2f
1:
    .irp word, L0, H0, L1, H1, L2, H2, L3, H3
    mov.b @Y+, \word
    mov.b @Y+, X
    swpb X
    bis X, \word
    .endr
2:
    mov Y, IN
    .irp word, L0, H0, L1, H1, L2, H2, L3, H3
    xor @KEY+, \word
    .endr
.endm

/* The index to look up: the low byte of a word, or its other byte. */
.macro take half, word
    .ifc \half, other
    swpb \word
    .endif
    mov.b \word, INDEX
.endm

/* SubBytes and MixColumns of one byte, added to the half columns x and y. */
.macro mix tables_x, tables_y, half, word, x, y
    take \half, \word
    rla INDEX
    xor \tables_x(INDEX), \x
    xor \tables_y(INDEX), \y
.endm

/* One column of a round: SubBytes, ShiftRows, MixColumns, AddRoundKey. */
.macro column x, y, half0, row0, half1, row1, half2, row2, half3, row3
    mov @KEY+, \x
    mov @KEY+, \y
    mix aes_sbox_21, aes_sbox_13, \half0, \row0, \x, \y
    mix aes_sbox_32, aes_sbox_11, \half1, \row1, \x, \y
    mix aes_sbox_13, aes_sbox_21, \half2, \row2, \x, \y
    mix aes_sbox_11, aes_sbox_32, \half3, \row3, \x, \y
.endm

/* InvSubBytes, AddRoundKey and InvMixColumns of one byte. */
.macro unmix op, tables_x, tables_y, half, word, x, y
    take \half, \word
    mov.b aes_inverse_sbox(INDEX), INDEX
    xor.b @KEY+, INDEX
    rla INDEX
    \op \tables_x(INDEX), \x
    \op \tables_y(INDEX), \y
.endm

.macro inverse_column x, y, half0, row0, half1, row1, half2, row2, half3, row3
    unmix mov, aes_times_e9, aes_times_db, \half0, \row0, \x, \y
    unmix xor, aes_times_be, aes_times_9d, \half1, \row1, \x, \y
    unmix xor, aes_times_db, aes_times_e9, \half2, \row2, \x, \y
    unmix xor, aes_times_9d, aes_times_be, \half3, \row3, \x, \y
.endm

/* A round of encryption, except the last. */
.macro encrypt_round
    column X, Y, low, L0, other, L1, low, H2, other, H3
    push X
    push Y
    column X, Y, other, L1, other, L2, other, H3, other, H0
    column L1, H3, other, L2, other, L3, other, H0, other, H1
    column L2, H0, other, L3, other, L0, other, H1, other, H2
    mov L2, L3
    mov H3, H2
    mov H0, H3
    mov L1, L2
    mov X, L1
    mov Y, H1
    pop H0
    pop L0
.endm

/* Half a column of the last round, in X. */
.macro last sbox, half_even, even, half_odd, odd
    take \half_even, \even
    mov.b \sbox(INDEX), X
    take \half_odd, \odd
    mov.b \sbox(INDEX), INDEX
    swpb INDEX
    bis INDEX, X
    xor @KEY+, X
.endm

.macro store_word offset
    mov X, \offset(Y)
.endm

.macro store_bytes offset
    mov.b X, \offset(Y)
    swpb X
    mov.b X, \offset+1(Y)
.endm

.macro last_round store
    last aes_sbox, low, L0, other, L1
    \store 0
    last aes_sbox, low, H2, other, H3
    \store 2
    last aes_sbox, other, L1, other, L2
    \store 4
    last aes_sbox, other, H3, other, H0
    \store 6
    last aes_sbox, other, L2, other, L3
    \store 8
    last aes_sbox, other, H0, other, H1
    \store 10
    last aes_sbox, other, L3, other, L0
    \store 12
    last aes_sbox, other, H1, other, H2
    \store 14
.endm

.macro inverse_last_round store
    last aes_inverse_sbox, low, L0, other, L3
    \store 0
    last aes_inverse_sbox, low, H2, other, H1
    \store 2
    last aes_inverse_sbox, low, L1, other, L0
    \store 4
    last aes_inverse_sbox, low, H3, other, H2
    \store 6
    last aes_inverse_sbox, low, L2, other, L1
    \store 8
    last aes_inverse_sbox, low, H0, other, H3
    \store 10
    last aes_inverse_sbox, other, L3, other, L2
    \store 12
    last aes_inverse_sbox, other, H1, other, H0
    \store 14
.endm

/* Both last rounds store the block at OUT, which may be unaligned. */
.macro store_block round
    mov OUT, Y
    add #16, OUT
    bit #1, Y
    jnz 1f
    \round store_word
    jmp 2f
1:
    \round store_bytes
2:
.endm

/* void aes_encrypt(const aes_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) */
    .section .text.aes_encrypt, "ax", @progbits
    .global aes_encrypt
    .type aes_encrypt, @function
    .p2align 1
aes_encrypt:
    tst r15
    jz .Lencrypted
    enter
.Lencrypt_block:
    mov FIRST_KEY, KEY
    load_block
.Lencrypt_round:
    encrypt_round
    cmp LAST_KEY, KEY
    jne .Lencrypt_round
    store_block last_round
    dec BLOCKS
    jnz .Lencrypt_block
    push #0 ; overwrite column 0 of the last but one round
    push #0
    add #4, sp
    leave
.Lencrypted:
    ret
    .size aes_encrypt, . - aes_encrypt

/* The frame of aes_counter, above that of `enter`: the columns common to all blocks, first all four
   after two rounds, then column 0 after one; the counter's last byte, and the key's; a block of
   stream. */
#define COLUMNS 24
#define COLUMN_0 40
#define LAST 44
#define LAST_BYTE_OF_KEY 46
#define STREAM 48
#define COUNTER_FRAME_BYTES 40
#define ARGUMENT COUNTER_FRAME_BYTES+26

/* Adds to column 0 the contribution of the byte at INDEX, the counter's last byte. */
.macro add_last_byte x, y
    rla INDEX
    xor aes_sbox_11(INDEX), \x
    xor aes_sbox_32(INDEX), \y
.endm

/* Adds the contributions of column 0 after one round, in X and Y, to the columns of the next. */
.macro add_column_0
    mix aes_sbox_21, aes_sbox_13, low, X, L0, H0
    mix aes_sbox_32, aes_sbox_11, other, X, L3, H3
    mix aes_sbox_13, aes_sbox_21, low, Y, L2, H2
    mix aes_sbox_11, aes_sbox_32, other, Y, L1, H1
.endm

.macro store_stream offset
    mov X, STREAM+\offset(sp)
.endm

/* void aes_counter(const aes_ctx *ctx, uint8_t *out, const uint8_t *in, const uint8_t *counter,
                    size_t blocks)

   Where counters differ only in their last byte, one column differs after one round, by the
   contribution of that byte, and each of the four by one more after the next (Bernstein and
   Schwabe, New AES software speed records, INDOCRYPT 2008, section 4). */
    .section .text.aes_counter, "ax", @progbits
    .global aes_counter
    .type aes_counter, @function
    .p2align 1
aes_counter:
    sub #COUNTER_FRAME_BYTES, sp
    enter
    mov.b 15(r15), X
    mov X, LAST(sp)
    mov FIRST_KEY, KEY
    mov.b 15(KEY), X
    mov X, LAST_BYTE_OF_KEY(sp)
    mov IN, X
    mov X, STREAM(sp)
    mov BLOCKS, X
    mov X, IN
    load_block
    mov STREAM(sp), X
    mov X, IN
    mov ARGUMENT(sp), X
    mov X, BLOCKS
    call #.Lround
    push L0
    push H0
    mov.b LAST+4(sp), INDEX
    xor LAST_BYTE_OF_KEY+4(sp), INDEX
    add_last_byte L0, H0
    mov L0, COLUMN_0+4(sp)
    mov H0, COLUMN_0+6(sp)
    mov 2(sp), L0
    mov @sp, H0
    call #.Lround
    pop Y
    pop X
    add_column_0
    mov L0, COLUMNS(sp)
    mov H0, COLUMNS+2(sp)
    mov L1, COLUMNS+4(sp)
    mov H1, COLUMNS+6(sp)
    mov L2, COLUMNS+8(sp)
    mov H2, COLUMNS+10(sp)
    mov L3, COLUMNS+12(sp)
    mov H3, COLUMNS+14(sp)
.Lcounter_block:
    mov FIRST_KEY, KEY
    add #48, KEY
    mov COLUMNS(sp), L0
    mov COLUMNS+2(sp), H0
    mov COLUMNS+4(sp), L1
    mov COLUMNS+6(sp), H1
    mov COLUMNS+8(sp), L2
    mov COLUMNS+10(sp), H2
    mov COLUMNS+12(sp), L3
    mov COLUMNS+14(sp), H3
    mov LAST(sp), INDEX
    inc LAST(sp)
    xor LAST_BYTE_OF_KEY(sp), INDEX
    mov COLUMN_0(sp), X
    mov COLUMN_0+2(sp), Y
    add_last_byte X, Y
    add_column_0
.Lcounter_round:
    encrypt_round
    cmp LAST_KEY, KEY
    jne .Lcounter_round
    last_round store_stream
    mov IN, INDEX
    mov OUT, Y
    mov INDEX, X
    bis Y, X
    bit #1, X
    jnz .Lunaligned
    .irp offset, 0, 2, 4, 6, 8, 10, 12, 14
    mov @INDEX+, X
    xor STREAM+\offset(sp), X
    mov X, \offset(Y)
    .endr
    jmp .Ladded
.Lunaligned:
    .irp offset, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    mov.b @INDEX+, X
    xor.b STREAM+\offset(sp), X
    mov.b X, \offset(Y)
    .endr
.Ladded:
    add #16, IN
    add #16, OUT
    dec BLOCKS
    jz .Lcounted
    br #.Lcounter_block
.Lcounted:
    .irp offset, 0, 2, 4, 6, 8, 10, 12, 14
    clr STREAM+\offset(sp)
    clr COLUMNS+\offset(sp)
    .endr
    clr COLUMN_0(sp)
    clr COLUMN_0+2(sp)
    clr LAST_BYTE_OF_KEY(sp)
    push #0 ; overwrite column 0 of the last but one round, and of the first two
    push #0
    push #0
    add #6, sp
    leave
    add #COUNTER_FRAME_BYTES, sp
    ret
.Lround:
    encrypt_round
    ret
    .size aes_counter, . - aes_counter

/* void aes_decrypt(const aes_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) */
    .section .text.aes_decrypt, "ax", @progbits
    .global aes_decrypt
    .type aes_decrypt, @function
    .p2align 1
aes_decrypt:
    tst r15
    jz .Ldecrypted
    enter
.Ldecrypt_block:
    mov LAST_KEY, KEY
    load_block
    sub #32, KEY
.Ldecrypt_round:
    inverse_column X, Y, low, L0, other, L3, low, H2, other, H1
    push X
    push Y
    inverse_column X, Y, low, L1, other, L0, low, H3, other, H2
    inverse_column L0, H2, low, L2, other, L1, low, H0, other, H3
    inverse_column L1, H3, other, L3, other, L2, other, H1, other, H0
    mov L1, L3
    mov L0, L2
    mov X, L1
    mov Y, H1
    pop H0
    pop L0
    sub #32, KEY
    cmp FIRST_KEY, KEY
    jne .Ldecrypt_round
    store_block inverse_last_round
    dec BLOCKS
    jnz .Ldecrypt_block
    push #0
    push #0
    add #4, sp
    leave
.Ldecrypted:
    ret
    .size aes_decrypt, . - aes_decrypt
