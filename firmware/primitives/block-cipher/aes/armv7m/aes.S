/* AES rounds with tables. A column is a register, row 0 in its lowest byte.

   One table per direction holds the contribution of a byte of row 3 to its column; that of another
   row is the same rotated by bytes, which costs nothing here. Loads are grouped, because on a
   Cortex-M3 one that follows another takes one cycle instead of two. Rounds are unrolled, so that
   round keys are at constant offsets and the two halves of the registers can alternate as the old
   state. */
    .syntax unified
    .thumb

#define AES_ROUNDS (AES_KEY_BITS / 32 + 6)

#define A r0
#define B r1
#define C r2
#define D r3
#define E r4
#define F r5
#define G r6
#define H r7
#define I r8
#define J r9
#define K r10
#define L r11
#define TABLE r12
#define KEY lr

/* The frame, below the saved registers. */
#define IN [sp]
#define OUT [sp, #4]
#define BLOCKS [sp, #8]
#define FRAME 12

/* The four bytes that make a column, each from a different column. */
.macro bytes i, j, k, l, w, x, y, z
    uxtb.w  \i, \w
    ubfx    \j, \x, #8, #8
    ubfx    \k, \y, #16, #8
    lsr     \l, \z, #24
.endm

.macro words_of i, j, k, l
    ldr     \i, [TABLE, \i, lsl #2]
    ldr     \j, [TABLE, \j, lsl #2]
    ldr     \k, [TABLE, \k, lsl #2]
    ldr     \l, [TABLE, \l, lsl #2]
.endm

.macro add_words column, i, j, k, l
    eor     \column, \column, \i, ror #24
    eor     \column, \column, \j, ror #16
    eor     \column, \column, \k, ror #8
    eor     \column, \column, \l
.endm

/* The lowest byte of an entry is S(x). */
.macro sbox_of i, j, k, l
    ldrb    \i, [TABLE, \i, lsl #2]
    ldrb    \j, [TABLE, \j, lsl #2]
    ldrb    \k, [TABLE, \k, lsl #2]
    ldrb    \l, [TABLE, \l, lsl #2]
.endm

.macro inverse_sbox_of i, j, k, l
    ldrb    \i, [TABLE, \i]
    ldrb    \j, [TABLE, \j]
    ldrb    \k, [TABLE, \k]
    ldrb    \l, [TABLE, \l]
.endm

.macro add_bytes column, i, j, k, l
    eor     \column, \column, \i
    eor     \column, \column, \j, lsl #8
    eor     \column, \column, \k, lsl #16
    eor     \column, \column, \l, lsl #24
.endm

/* A round from a to d into e to h. Rows 1 to 3 of column e come from b, c and d; second and fourth
   are the offsets of f and h in the round key. The last two columns are looked up together, with
   the old state as its own indices. */
.macro round number, look_up, add, second, fourth, a, b, c, d, e, f, g, h
    bytes   I, J, K, L, \a, \b, \c, \d
    ldr     \e, [KEY, #16 * (\number)]
    ldr     \f, [KEY, #16 * (\number) + \second]
    ldr     \g, [KEY, #16 * (\number) + 8]
    ldr     \h, [KEY, #16 * (\number) + \fourth]
    \look_up I, J, K, L
    \add    \e, I, J, K, L
    bytes   I, J, K, L, \b, \c, \d, \a
    \look_up I, J, K, L
    \add    \f, I, J, K, L
    bytes   I, J, K, L, \c, \d, \a, \b
    bytes   \d, \a, \b, \c, \d, \a, \b, \c
    \look_up I, J, K, L
    \look_up \d, \a, \b, \c
    \add    \g, I, J, K, L
    \add    \h, \d, \a, \b, \c
.endm

.macro encrypt_from_ad number, look_up=words_of, add=add_words
    round   \number, \look_up, \add, 4, 12, A, B, C, D, E, F, G, H
.endm

.macro encrypt_from_eh number, look_up=words_of, add=add_words
    round   \number, \look_up, \add, 4, 12, E, F, G, H, A, B, C, D
.endm

/* InvShiftRows rotates the other way: columns 1 and 3 are swapped. */
.macro decrypt_from_ad number, look_up=words_of, add=add_words
    round   \number, \look_up, \add, 12, 4, A, D, C, B, E, H, G, F
.endm

.macro decrypt_from_eh number, look_up=words_of, add=add_words
    round   \number, \look_up, \add, 12, 4, E, H, G, F, A, D, C, B
.endm

/* All rounds but the last. */
.macro rounds direction
    .irp    number, 1, 3, 5, 7, 9, 11, 13
    .if     \number < AES_ROUNDS - 1
    \direction\()_from_ad \number
    \direction\()_from_eh \number + 1
    .endif
    .endr
    \direction\()_from_ad AES_ROUNDS - 1
.endm

/* Saves registers, loads the first columns from IN and adds the first round key. */
.macro enter table
    cmp     r3, #0
    it      eq
    bxeq    lr
    push    {r4-r11, lr}
    sub     sp, sp, #FRAME
    str     r2, IN
    str     r1, OUT
    str     r3, BLOCKS
    mov     KEY, r0
    movw    TABLE, #:lower16:\table
    movt    TABLE, #:upper16:\table
.endm

.macro load_block
    ldr     I, IN
    ldr     A, [I], #16
    ldr     B, [I, #-12]
    ldr     C, [I, #-8]
    ldr     D, [I, #-4]
    ldr     E, [KEY]
    ldr     F, [KEY, #4]
    ldr     G, [KEY, #8]
    ldr     H, [KEY, #12]
    str     I, IN
    eor     A, A, E
    eor     B, B, F
    eor     C, C, G
    eor     D, D, H
.endm

/* Sets the flags for the loop. */
.macro store_block
    ldr     I, OUT
    ldr     J, BLOCKS
    str     A, [I], #16
    str     B, [I, #-12]
    str     C, [I, #-8]
    str     D, [I, #-4]
    str     I, OUT
    subs.w  J, J, #1
    str     J, BLOCKS
.endm

.macro leave
    movs    r0, #0 /* clear registers that held secrets */
    movs    r1, #0
    movs    r2, #0
    movs    r3, #0
    add     sp, sp, #FRAME
    pop     {r4-r11, pc}
.endm

/* void aes_encrypt(const aes_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) */
    .section .text.aes_encrypt, "ax", %progbits
    .global aes_encrypt
    .type aes_encrypt, %function
    .balign 4
    .thumb_func
aes_encrypt:
    enter   aes_table
    .balign 4
1:
    load_block
    rounds  encrypt
    encrypt_from_eh AES_ROUNDS, sbox_of, add_bytes
    store_block
    bne     1b
    leave
    .size aes_encrypt, . - aes_encrypt

/* Adds the contributions of a byte in each row of column \e to the four columns of the next
   round. */
.macro add_column e
    uxtb.w  I, \e
    ubfx    J, \e, #8, #8
    ubfx    K, \e, #16, #8
    lsr     L, \e, #24
    words_of I, J, K, L
    eor     A, A, I, ror #24
    eor     B, B, L
    eor     C, C, K, ror #8
    eor     D, D, J, ror #16
.endm

/* The frame of aes_counter: the columns common to all blocks, 0 to 3 after two rounds, then column
   0 after one; the counter's last byte, the key byte that is added to it; input, output, the
   input's end. */
#define COLUMNS 0
#define COLUMN_0 16
#define LAST 20
#define LAST_KEY 24
#define POINTERS 28
#define END 36
#define COUNTER_FRAME 44

/* void aes_counter(const aes_ctx *ctx, uint8_t *out, const uint8_t *in, const uint8_t *counter,
                    size_t blocks)

   Where counters differ only in their last byte, one column differs after one round, by one table
   lookup, and each of the four by one more after the next (Bernstein and Schwabe, New AES software
   speed records, INDOCRYPT 2008, section 4). */
    .section .text.aes_counter, "ax", %progbits
    .global aes_counter
    .type aes_counter, %function
    .balign 4
    .thumb_func
aes_counter:
    push    {r4-r11, lr}
    sub     sp, sp, #COUNTER_FRAME
    ldr     r4, [sp, #COUNTER_FRAME + 36]
    add     r4, r2, r4, lsl #4
    str     r4, [sp, #END]
    strd    r2, r1, [sp, #POINTERS]
    mov     KEY, r0
    mov     I, r3
    movw    TABLE, #:lower16:aes_table
    movt    TABLE, #:upper16:aes_table
    ldr     A, [I]
    ldr     B, [I, #4]
    ldr     C, [I, #8]
    ldr     D, [I, #12]
    ldr     E, [KEY]
    ldr     F, [KEY, #4]
    ldr     G, [KEY, #8]
    ldr     H, [KEY, #12]
    lsr     I, D, #24
    lsr     J, H, #24
    strd    I, J, [sp, #LAST]
    eor     A, A, E
    eor     B, B, F
    eor     C, C, G
    eor     D, D, H
    encrypt_from_ad 1
    ldrd    I, J, [sp, #LAST]
    eor     I, I, J
    ldr     I, [TABLE, I, lsl #2]
    eor     I, E, I
    str     I, [sp, #COLUMN_0]
    str     E, [sp, #COLUMNS]
    encrypt_from_eh 2
    ldr     E, [sp, #COLUMNS]
    add_column E
    stmia   sp, {A, B, C, D}
    .balign 4
1:
    ldmia   sp, {A, B, C, D, E, F, G}
    eor     G, G, F
    adds    F, F, #1
    ldr     G, [TABLE, G, lsl #2]
    str     F, [sp, #LAST]
    eor     E, E, G
    add_column E
    .irp    number, 3, 5, 7, 9, 11, 13
    .if     \number < AES_ROUNDS - 1
    encrypt_from_ad \number
    encrypt_from_eh \number + 1
    .endif
    .endr
    encrypt_from_ad AES_ROUNDS - 1
    encrypt_from_eh AES_ROUNDS, sbox_of, add_bytes
    ldr     I, [sp, #POINTERS]
    ldr     J, [sp, #POINTERS + 4]
    ldr     K, [sp, #END]
    ldr     E, [I], #16
    ldr     F, [I, #-12]
    ldr     G, [I, #-8]
    ldr     H, [I, #-4]
    str     I, [sp, #POINTERS]
    eor     A, A, E
    eor     B, B, F
    eor     C, C, G
    eor     D, D, H
    str     A, [J], #16
    str     B, [J, #-12]
    str     C, [J, #-8]
    str     D, [J, #-4]
    str     J, [sp, #POINTERS + 4]
    cmp     I, K
    bne.w   1b
    movs    r0, #0 /* clear registers that held secrets */
    movs    r1, #0
    movs    r2, #0
    movs    r3, #0
    movs    r4, #0
    movs    r5, #0
    movs    r6, #0
    stmia   sp, {r0-r6}
    add     sp, sp, #COUNTER_FRAME
    pop     {r4-r11, pc}
    .size aes_counter, . - aes_counter

/* void aes_decrypt(const aes_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) */
    .section .text.aes_decrypt, "ax", %progbits
    .global aes_decrypt
    .type aes_decrypt, %function
    .balign 4
    .thumb_func
aes_decrypt:
    enter   aes_inverse_table
    add     KEY, KEY, #16 * (AES_ROUNDS + 1)
    .balign 4
1:
    load_block
    rounds  decrypt
    add     TABLE, TABLE, #1024
    decrypt_from_eh AES_ROUNDS, inverse_sbox_of, add_bytes
    sub     TABLE, TABLE, #1024
    store_block
    bne     1b
    leave
    .size aes_decrypt, . - aes_decrypt
