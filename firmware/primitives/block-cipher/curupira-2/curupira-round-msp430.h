/* The round of Curupira in MSP430 assembly; a .S file includes this.

   Wj has rows 0 and 1 of column j, row 0 in the low byte; X01 and X23 have row 2 of columns 0 and 1,
   2 and 3. pi takes row 1 from column j xor 1 and row 2 from column j xor 2, so columns 0 and 1 of
   the result need W0, W1 and X23 alone, and columns 2 and 3 the rest: three registers more are
   enough, and the state never leaves the registers. */
#define W0 r4
#define W1 r5
#define W2 r6
#define W3 r7
#define N0 r8
#define N1 r9
#define X01 r10
#define X23 r11
#define NX r12
#define C r13
#define T r14
#define K r15

/* Two columns of theta(pi(gamma(state))): \dp, \dq have been set to what is to be added (a key, or
   zero); \xd becomes row 2. Leaves the bytes of \wp, \wq and \xs swapped. 52 cycles. */
.macro columns wp, wq, xs, dp, dq, xd
    mov.b   \wp, T
    mov.b   curupira2_u6(T), \xd
    rla     T
    xor     curupira2_t0(T), \dp
    mov.b   \wq, T
    mov.b   curupira2_u6(T), C
    rla     T
    xor     curupira2_t0(T), \dq
    swpb    \wq
    mov.b   \wq, T
    xor.b   curupira2_u6(T), \xd
    rla     T
    xor     curupira2_t1(T), \dp
    swpb    \wp
    mov.b   \wp, T
    xor.b   curupira2_u6(T), C
    rla     T
    xor     curupira2_t1(T), \dq
    mov.b   \xs, T
    xor.b   curupira2_u7(T), \xd
    rla     T
    xor     curupira2_t2(T), \dp
    swpb    \xs
    mov.b   \xs, T
    xor.b   curupira2_u7(T), C
    rla     T
    xor     curupira2_t2(T), \dq
    swpb    C
    xor     C, \xd
.endm

/* S of the low byte, or of the high one, of \w. */
.macro s_low w, to
    mov.b   \w, \to
    mov.b   curupira2_s(\to), \to
.endm

.macro s_high w, to
    swpb    \w
    s_low   \w, \to
.endm

/* Two bytes to a word, at any address. */
.macro load_word from, to
    mov.b   @\from+, \to
    mov.b   @\from+, T
    swpb    T
    bis     T, \to
.endm

/* Bytes of a block to the state: row 2 of two columns share a word. */
.macro load_columns from, wp, wq, x
    load_word \from, \wp
    mov.b   @\from+, \x
    load_word \from, \wq
    mov.b   @\from+, T
    swpb    T
    bis     T, \x
.endm

/* A column of the round key at \from (which moves on): \w gets rows 0, with the S-box, and 1, and \x
   row 2. Changes T and C. 12 cycles. */
.macro key_column from, w, x
    mov.b   @\from+, T
    mov.b   curupira2_s(T), \w
    mov.b   @\from+, C
    swpb    C
    bis     C, \w
    mov.b   @\from+, \x
.endm

/* One step of the key schedule. The key is shifted by moving on in a longer array: it stands in
   \k[0] to \k[11] and moves to \k[1] to \k[12]. \constant is that of the round; it is changed as T and
   C are. */
.macro next_key k, constant
    mov.b   curupira2_s(\constant), \constant
    xor.b   @\k, \constant
    mov.b   \constant, 12(\k)
    mov     \constant, T            /* T1(u) = u + u / x^3 + u / x^5 */
    rra     T
    rra     T
    rra     T
    mov     T, C
    rra     C
    rra     C
    xor     T, C
    xor     \constant, C
    xor.b   C, 10(\k)
    rla     \constant               /* T0(u) = u x^3 + u x^5, of which a byte remains */
    rla     \constant
    rla     \constant
    mov     \constant, T
    rla     T
    rla     T
    xor     \constant, T
    xor.b   T, 11(\k)
.endm
