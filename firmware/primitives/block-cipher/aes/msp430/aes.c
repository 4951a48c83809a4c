#include "aes.h"
#include "aes-key-expansion.h"
#include "aes-tables.h"

#define S(s) (s)
#define HALF(even, odd) ((uint16_t)((even) | (odd) << 8))
#define M21(s) HALF(AES_MUL2(s), s)
#define M13(s) HALF(s, AES_MUL3(s))
#define M32(s) HALF(AES_MUL3(s), AES_MUL2(s))
#define M11(s) HALF(s, s)

const uint8_t aes_sbox[256] = {AES_SBOX(S)};
const uint8_t aes_inverse_sbox[256] = {AES_INVERSE_SBOX(S)};
const uint16_t aes_sbox_21[256] = {AES_SBOX(M21)};
const uint16_t aes_sbox_13[256] = {AES_SBOX(M13)};
const uint16_t aes_sbox_32[256] = {AES_SBOX(M32)};
const uint16_t aes_sbox_11[256] = {AES_SBOX(M11)};

#define TIMES4(f, s) f(s), f((s) + 1), f((s) + 2), f((s) + 3)
#define TIMES16(f, s) TIMES4(f, s), TIMES4(f, (s) + 4), TIMES4(f, (s) + 8), TIMES4(f, (s) + 12)
#define TIMES64(f, s)                                                                              \
    TIMES16(f, s), TIMES16(f, (s) + 16), TIMES16(f, (s) + 32), TIMES16(f, (s) + 48)
#define BYTES(f) TIMES64(f, 0), TIMES64(f, 64), TIMES64(f, 128), TIMES64(f, 192)
#define ME9(s) HALF(AES_MUL14(s), AES_MUL9(s))
#define MDB(s) HALF(AES_MUL13(s), AES_MUL11(s))
#define MBE(s) HALF(AES_MUL11(s), AES_MUL14(s))
#define M9D(s) HALF(AES_MUL9(s), AES_MUL13(s))

const uint16_t aes_times_e9[256] = {BYTES(ME9)};
const uint16_t aes_times_db[256] = {BYTES(MDB)};
const uint16_t aes_times_be[256] = {BYTES(MBE)};
const uint16_t aes_times_9d[256] = {BYTES(M9D)};

void aes_init(aes_ctx *ctx, const uint8_t *key) {
    aes_key_expansion(ctx->round_keys, key, aes_sbox);
}
