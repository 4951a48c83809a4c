#include "aes-sbox.h"
#include "aes-tables.h"

#define COLUMN(r0, r1, r2, r3)                                                                     \
    ((uint32_t)(r0) | (uint32_t)(r1) << 8 | (uint32_t)(r2) << 16 | (uint32_t)(r3) << 24)
#define S(s) (s)
#define T0(s) COLUMN(AES_MUL2(s), s, s, AES_MUL3(s))
#define T1(s) COLUMN(AES_MUL3(s), AES_MUL2(s), s, s)
#define T2(s) COLUMN(s, AES_MUL3(s), AES_MUL2(s), s)
#define T3(s) COLUMN(s, s, AES_MUL3(s), AES_MUL2(s))
#define U0(s) COLUMN(AES_MUL14(s), AES_MUL9(s), AES_MUL13(s), AES_MUL11(s))
#define U1(s) COLUMN(AES_MUL11(s), AES_MUL14(s), AES_MUL9(s), AES_MUL13(s))
#define U2(s) COLUMN(AES_MUL13(s), AES_MUL11(s), AES_MUL14(s), AES_MUL9(s))
#define U3(s) COLUMN(AES_MUL9(s), AES_MUL13(s), AES_MUL11(s), AES_MUL14(s))

const uint32_t aes_table[4][256] = {{AES_SBOX(T0)}, {AES_SBOX(T1)}, {AES_SBOX(T2)}, {AES_SBOX(T3)}};
const aes_inverse_tables aes_inverse_table = {{AES_INVERSE_SBOX(S)},
                                              {{AES_INVERSE_SBOX(U0)},
                                               {AES_INVERSE_SBOX(U1)},
                                               {AES_INVERSE_SBOX(U2)},
                                               {AES_INVERSE_SBOX(U3)}}};
