/* AES rounds with tables. A column is a register, row 0 in its lowest byte; TABLE points to the
   middle of four tables, one for each row, so that offsets reach all of them. Nothing loaded is
   used by the next instruction, which would wait a cycle for it. */

#include "riscv.inc"

#define AES_ROUNDS (AES_KEY_BITS / 32 + 6)

#define KEY a0
#define OUT a1
#define IN a2
#define END a3 /* of the input */
#define TABLE a4
#define A a5
#define B a6
#define C a7
#define D t0
#define E t1
#define F t2
#define G t3
#define H t4
#define I t5
#define J t6

/* The byte of a row. For the middle rows h3.bextmi, of Hazard3's extension Xh3bextm: a field of up
   to eight bits. */
.macro byte to, column, row
    .if     \row == 0
    andi    \to, \column, 0xff
    .elseif \row == 3
    srli    \to, \column, 24
    .else
    .insn   i 0x0b, 4, \to, \column, (8 - 1) << 6 | 8 * \row
    .endif
.endm

.macro index to, column, row
    byte    \to, \column, \row
    sh2add  \to, \to, TABLE
.endm

.macro look_up to, row
    lw      \to, 1024 * (\row - 2)(\to)
.endm

/* Column \e of a round from a byte of each of these, with the key at \key. */
.macro full_column e, key, w, x, y, z
    byte    \e, \w, 0
    byte    I, \x, 1
    byte    J, \y, 2
    sh2add  \e, \e, TABLE
    sh2add  I, I, TABLE
    sh2add  J, J, TABLE
    look_up \e, 0
    look_up I, 1
    look_up J, 2
    xor     \e, \e, I
    index   I, \z, 3
    xor     \e, \e, J
    lw      J, \key(KEY)
    look_up I, 3
    xor     \e, \e, J
    xor     \e, \e, I
.endm

/* The same of the last round, with byte 1 of the first table. */
.macro last_column e, key, w, x, y, z
    index   \e, \w, 0
    index   I, \x, 1
    index   J, \y, 2
    lbu     \e, -2047(\e)
    lbu     I, -2047(I)
    lbu     J, -2047(J)
    packh   \e, \e, I
    index   I, \z, 3
    lbu     I, -2047(I)
    slli    J, J, 16
    or      \e, \e, J
    lw      J, \key(KEY)
    slli    I, I, 24
    or      \e, \e, I
    xor     \e, \e, J
.endm

/* The same of the last inverse round; TABLE is 256 bytes behind the S-box. */
.macro last_inverse_column e, key, w, x, y, z
    byte    \e, \w, 0
    byte    I, \x, 1
    byte    J, \y, 2
    add     \e, \e, TABLE
    add     I, I, TABLE
    add     J, J, TABLE
    lbu     \e, -256(\e)
    lbu     I, -256(I)
    lbu     J, -256(J)
    packh   \e, \e, I
    byte    I, \z, 3
    add     I, I, TABLE
    lbu     I, -256(I)
    slli    J, J, 16
    or      \e, \e, J
    lw      J, \key(KEY)
    slli    I, I, 24
    or      \e, \e, I
    xor     \e, \e, J
.endm

/* A round from a to d into e to h, with the round key at \key. */
.macro encrypt_round key, a, b, c, d, e, f, g, h, column=full_column
    \column \e, \key, \a, \b, \c, \d
    \column \f, \key + 4, \b, \c, \d, \a
    \column \g, \key + 8, \c, \d, \a, \b
    \column \h, \key + 12, \d, \a, \b, \c
.endm

.macro decrypt_round key, a, b, c, d, e, f, g, h, column=full_column
    \column \e, \key, \a, \d, \c, \b
    \column \f, \key + 4, \b, \a, \d, \c
    \column \g, \key + 8, \c, \b, \a, \d
    \column \h, \key + 12, \d, \c, \b, \a
.endm

/* Rounds from \first to the last but one, with A to D to begin with and E to H in the end; the
   round keys begin at \keys. */
.macro rounds round, keys, first
    .irp    number, 1, 3, 5, 7, 9, 11
    .if     \number >= \first && \number < AES_ROUNDS - 1
    \round  \keys + 16 * \number, A, B, C, D, E, F, G, H
    \round  \keys + 16 * \number + 16, E, F, G, H, A, B, C, D
    .endif
    .endr
    \round  \keys + 16 * (AES_ROUNDS - 1), A, B, C, D, E, F, G, H
.endm

.macro load_keys keys
    lw      E, \keys(KEY)
    lw      F, \keys + 4(KEY)
    lw      G, \keys + 8(KEY)
    lw      H, \keys + 12(KEY)
.endm

.macro add_words
    xor     A, A, E
    xor     B, B, F
    xor     C, C, G
    xor     D, D, H
.endm

.macro leave
    clear   A, B, C, D, E, F, G, H, I, J
    ret
.endm

/* aes_encrypt or aes_decrypt with the round keys at \keys. TABLE is \middle bytes into \table. */
.macro blocks round, keys, table, middle
    beqz    a3, 9f
    sh2add  END, a3, zero
    sh2add  END, END, IN
    la      TABLE, \table + \middle
    .balign 4
1:
    andi    I, IN, 3
    bnez    I, 4f
    lw      A, 0(IN)
    lw      B, 4(IN)
    lw      C, 8(IN)
    lw      D, 12(IN)
2:
    load_keys \keys
    addi    IN, IN, 16
    add_words
    rounds  \round, \keys, 1
    .ifc    \round, encrypt_round
    \round  \keys + 16 * AES_ROUNDS, E, F, G, H, A, B, C, D, last_column
    .else
    addi    TABLE, TABLE, -2048
    \round  \keys + 16 * AES_ROUNDS, E, F, G, H, A, B, C, D, last_inverse_column
    addi    TABLE, TABLE, 1024
    addi    TABLE, TABLE, 1024
    .endif
    andi    I, OUT, 3
    bnez    I, 5f
    sw      A, 0(OUT)
    sw      B, 4(OUT)
    sw      C, 8(OUT)
    sw      D, 12(OUT)
3:
    addi    OUT, OUT, 16
    bltu    IN, END, 1b
    leave
4:
    gather_word A, 0, IN, I, J
    gather_word B, 4, IN, I, J
    gather_word C, 8, IN, I, J
    gather_word D, 12, IN, I, J
    j       2b
5:
    scatter_word A, 0, OUT
    scatter_word B, 4, OUT
    scatter_word C, 8, OUT
    scatter_word D, 12, OUT
    j       3b
9:
    ret
.endm

/* void aes_encrypt(const aes_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) */
    .section .text.aes_encrypt, "ax", %progbits
    .global aes_encrypt
    .type   aes_encrypt, %function
    .balign 4
aes_encrypt:
    blocks  encrypt_round, 0, aes_table, 2048
    .size   aes_encrypt, . - aes_encrypt

/* Words of the key schedule: A to D, AES-192's to F, AES-256's to H. */
#define KEY_WORDS (AES_KEY_BITS / 32)
#define SCHEDULE_WORDS (4 * (AES_ROUNDS + 1))
#define U a2
#define V a3

/* J = SubWord of a word's bytes in this order (FIPS 197, 5.2). */
.macro sub_word word, w, x, y, z
    index   J, \word, \w
    index   I, \word, \x
    index   U, \word, \y
    index   V, \word, \z
    lbu     J, -2047(J)
    lbu     I, -2047(I)
    lbu     U, -2047(U)
    lbu     V, -2047(V)
    packh   J, J, I
    packh   U, U, V
    pack    J, J, U
.endm

.macro put_word word
    .if     place < 4 * SCHEDULE_WORDS
    sw      \word, place(a0)
    .endif
    .set    place, place + 4
.endm

.macro next_word word, before
    .if     place < 4 * SCHEDULE_WORDS
    xor     \word, \word, \before
    .endif
    put_word \word
.endm

/* The next words, as many as the key has. */
.macro next_words last
    sub_word \last, 1, 2, 3, 0
    xori    J, J, rcon
    .set    rcon, rcon << 1 ^ (rcon >> 7) * 0x11b
    next_word A, J
    next_word B, A
    next_word C, B
    next_word D, C
    .if     KEY_WORDS == 6
    next_word E, D
    next_word F, E
    .elseif KEY_WORDS == 8 && place < 4 * SCHEDULE_WORDS
    sub_word D, 0, 1, 2, 3
    next_word E, J
    next_word F, E
    next_word G, F
    next_word H, G
    .endif
.endm

.macro load_key_word word, at
    .if     \at < KEY_WORDS
    gather_word \word, 4 * \at, a1, I, J
    put_word \word
    .endif
.endm

/* Multiplies each byte by x (4.2.1). */
.macro xtimes to, word
    srli    J, \word, 7
    and     \to, \word, E
    slli    \to, \to, 1
    and     J, J, F
    mul     J, J, G
    xor     \to, \to, J
.endm

/* InvMixColumns, whose matrix is that of MixColumns times circ(5, 0, 4, 0): Daemen and Rijmen, The
   Design of Rijndael, section 4.1.3. It needs no table: a program that never decrypts does not link
   one. */
.macro inverse_mix word
    rori    I, \word, 16
    xor     I, I, \word
    xtimes  I, I
    xtimes  I, I
    xor     \word, \word, I
    rori    H, \word, 8
    xor     \word, \word, H
    xtimes  I, \word
    rori    \word, \word, 16
    xor     \word, \word, H
    xor     \word, \word, I
.endm

.macro put_decrypt_keys
    sw      A, 0(a1)
    sw      B, 4(a1)
    sw      C, 8(a1)
    sw      D, 12(a1)
.endm

.macro get_encrypt_keys
    lw      A, 0(a0)
    lw      B, 4(a0)
    lw      C, 8(a0)
    lw      D, 12(a0)
.endm

/* void aes_init(aes_ctx *ctx, const uint8_t *key) */
    .section .text.aes_init, "ax", %progbits
    .global aes_init
    .type   aes_init, %function
    .balign 4
aes_init:
    la      TABLE, aes_table + 2048
    .set    place, 0
    load_key_word A, 0
    load_key_word B, 1
    load_key_word C, 2
    load_key_word D, 3
    load_key_word E, 4
    load_key_word F, 5
    load_key_word G, 6
    load_key_word H, 7
    .set    rcon, 1
    .rept   (SCHEDULE_WORDS - 1) / KEY_WORDS
    .if     KEY_WORDS == 4
    next_words D
    .elseif KEY_WORDS == 6
    next_words F
    .else
    next_words H
    .endif
    .endr
    /* Decryption's, the last round's first: a1 goes down while a0 goes up. */
    addi    a1, a0, 4 * (2 * SCHEDULE_WORDS - 4)
    addi    a4, a0, 4 * (SCHEDULE_WORDS - 4)
    li      E, 0x7f7f7f7f
    li      F, 0x01010101
    li      G, 0x1b
    get_encrypt_keys
    .balign 4
1:
    put_decrypt_keys
    addi    a0, a0, 16
    addi    a1, a1, -16
    get_encrypt_keys
    beq     a0, a4, 2f
    inverse_mix A
    inverse_mix B
    inverse_mix C
    inverse_mix D
    j       1b
2:
    put_decrypt_keys
    clear   a2, a3
    leave
    .size   aes_init, . - aes_init

/* What aes_counter keeps for all blocks: the columns after two rounds, without what column 0 after
   one adds to them; that column without what the counter's last byte adds; that byte and the byte
   of the key that is added to it. */
#define COLUMN_A s0
#define COLUMN_B s1
#define COLUMN_C s2
#define COLUMN_D s3
#define FIRST s4
#define LAST s5
#define LAST_KEY s6

/* Columns of the next round, from common ones, by what column \e adds to them. */
.macro add_column e, a, b, c, d
    index   I, \e, 0
    index   J, \e, 1
    look_up I, 0
    look_up J, 1
    xor     A, \a, I
    index   I, \e, 2
    xor     D, \d, J
    index   J, \e, 3
    look_up I, 2
    look_up J, 3
    xor     C, \c, I
    xor     B, \b, J
.endm

/* void aes_counter(const aes_ctx *ctx, uint8_t *out, const uint8_t *in, const uint8_t *counter,
                    size_t blocks)

   Where counters differ only in their last byte, one column differs after one round, by one table
   lookup, and each of the four by one more after the next. */
    .section .text.aes_counter, "ax", %progbits
    .global aes_counter
    .type   aes_counter, %function
    .balign 4
aes_counter:
    addi    sp, sp, -32
    save    0, s0, s1, s2, s3, s4, s5, s6
    gather_word A, 0, a3, I, J
    gather_word B, 4, a3, I, J
    gather_word C, 8, a3, I, J
    gather_word D, 12, a3, I, J
    sh2add  END, a4, zero
    sh2add  END, END, IN
    la      TABLE, aes_table + 2048
    load_keys 0
    srli    LAST, D, 24
    srli    LAST_KEY, H, 24
    add_words
    encrypt_round 16, A, B, C, D, E, F, G, H
    xor     I, LAST, LAST_KEY
    sh2add  I, I, TABLE
    look_up I, 3
    xor     FIRST, E, I
    encrypt_round 32, E, F, G, H, A, B, C, D
    add_column E, A, B, C, D
    mv      COLUMN_A, A
    mv      COLUMN_B, B
    mv      COLUMN_C, C
    mv      COLUMN_D, D
    .balign 4
1:
    xor     I, LAST, LAST_KEY
    sh2add  I, I, TABLE
    look_up I, 3
    addi    LAST, LAST, 1
    xor     E, FIRST, I
    add_column E, COLUMN_A, COLUMN_B, COLUMN_C, COLUMN_D
    rounds  encrypt_round, 0, 3
    encrypt_round 16 * AES_ROUNDS, E, F, G, H, A, B, C, D, last_column
    andi    I, IN, 3
    bnez    I, 4f
    lw      E, 0(IN)
    lw      F, 4(IN)
    lw      G, 8(IN)
    lw      H, 12(IN)
2:
    addi    IN, IN, 16
    add_words
    andi    I, OUT, 3
    bnez    I, 5f
    sw      A, 0(OUT)
    sw      B, 4(OUT)
    sw      C, 8(OUT)
    sw      D, 12(OUT)
3:
    addi    OUT, OUT, 16
    bltu    IN, END, 1b
    restore 0, s0, s1, s2, s3, s4, s5, s6
    addi    sp, sp, 32
    leave
4:
    gather_word E, 0, IN, I, J
    gather_word F, 4, IN, I, J
    gather_word G, 8, IN, I, J
    gather_word H, 12, IN, I, J
    j       2b
5:
    scatter_word A, 0, OUT
    scatter_word B, 4, OUT
    scatter_word C, 8, OUT
    scatter_word D, 12, OUT
    j       3b
    .size   aes_counter, . - aes_counter

/* void aes_decrypt(const aes_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) */
    .section .text.aes_decrypt, "ax", %progbits
    .global aes_decrypt
    .type   aes_decrypt, %function
    .balign 4
aes_decrypt:
    blocks  decrypt_round, 16 * (AES_ROUNDS + 1), aes_inverse_table, 256 + 2048
    .size   aes_decrypt, . - aes_decrypt
