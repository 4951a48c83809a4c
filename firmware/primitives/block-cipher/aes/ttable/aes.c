#include "aes.h"
#include "aes-key-expansion.h"

/* A column is a 32-bit word with row 0 in its least significant byte. Table r holds the
   contribution of a byte of row r to its column after SubBytes and MixColumns. */
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

static const uint8_t sbox[256] = {AES_SBOX(S)};
static const uint8_t inverse_sbox[256] = {AES_INVERSE_SBOX(S)};
static const uint32_t t0[256] = {AES_SBOX(T0)};
static const uint32_t t1[256] = {AES_SBOX(T1)};
static const uint32_t t2[256] = {AES_SBOX(T2)};
static const uint32_t t3[256] = {AES_SBOX(T3)};
static const uint32_t u0[256] = {AES_INVERSE_SBOX(U0)};
static const uint32_t u1[256] = {AES_INVERSE_SBOX(U1)};
static const uint32_t u2[256] = {AES_INVERSE_SBOX(U2)};
static const uint32_t u3[256] = {AES_INVERSE_SBOX(U3)};

static uint32_t load(const uint8_t *p) {
    return COLUMN(p[0], p[1], p[2], p[3]);
}

static void store(uint8_t *p, uint32_t column) {
    p[0] = (uint8_t)column;
    p[1] = (uint8_t)(column >> 8);
    p[2] = (uint8_t)(column >> 16);
    p[3] = (uint8_t)(column >> 24);
}

void aes_init(aes_ctx *ctx, const uint8_t *key) {
    uint8_t w[AES_SCHEDULE_BYTES];
    aes_key_expansion(w, key, sbox);
    for (size_t i = 0; i <= AES_ROUNDS; i++) {
        for (size_t c = 0; c < 4; c++) {
            const uint8_t *p = w + 16 * i + 4 * c;
            ctx->encrypt_keys[4 * i + c] = load(p);
            /* Last round key first. InvMixColumns is applied to all but the first and the last;
               u(S(x)) is InvMixColumns of x alone. */
            ctx->decrypt_keys[4 * (AES_ROUNDS - i) + c] =
                i == 0 || i == AES_ROUNDS
                    ? load(p)
                    : u0[sbox[p[0]]] ^ u1[sbox[p[1]]] ^ u2[sbox[p[2]]] ^ u3[sbox[p[3]]];
        }
    }
    crypto_wipe(w, sizeof w);
}

#define ROW0(x) ((uint8_t)(x))
#define ROW1(x) ((uint8_t)((x) >> 8))
#define ROW2(x) ((uint8_t)((x) >> 16))
#define ROW3(x) ((uint8_t)((x) >> 24))

void aes_encrypt(const aes_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) {
    for (; blocks > 0; blocks--, in += 16, out += 16) {
        const uint32_t *k = ctx->encrypt_keys;
        uint32_t a = load(in) ^ k[0], b = load(in + 4) ^ k[1];
        uint32_t c = load(in + 8) ^ k[2], d = load(in + 12) ^ k[3];
        for (unsigned round = 1; round < AES_ROUNDS; round++) {
            k += 4;
            uint32_t e = t0[ROW0(a)] ^ t1[ROW1(b)] ^ t2[ROW2(c)] ^ t3[ROW3(d)] ^ k[0];
            uint32_t f = t0[ROW0(b)] ^ t1[ROW1(c)] ^ t2[ROW2(d)] ^ t3[ROW3(a)] ^ k[1];
            uint32_t g = t0[ROW0(c)] ^ t1[ROW1(d)] ^ t2[ROW2(a)] ^ t3[ROW3(b)] ^ k[2];
            uint32_t h = t0[ROW0(d)] ^ t1[ROW1(a)] ^ t2[ROW2(b)] ^ t3[ROW3(c)] ^ k[3];
            a = e, b = f, c = g, d = h;
        }
        k += 4;
#define LAST(w, x, y, z) COLUMN(sbox[ROW0(w)], sbox[ROW1(x)], sbox[ROW2(y)], sbox[ROW3(z)])
        store(out, LAST(a, b, c, d) ^ k[0]);
        store(out + 4, LAST(b, c, d, a) ^ k[1]);
        store(out + 8, LAST(c, d, a, b) ^ k[2]);
        store(out + 12, LAST(d, a, b, c) ^ k[3]);
#undef LAST
    }
}

void aes_decrypt(const aes_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) {
    for (; blocks > 0; blocks--, in += 16, out += 16) {
        const uint32_t *k = ctx->decrypt_keys;
        uint32_t a = load(in) ^ k[0], b = load(in + 4) ^ k[1];
        uint32_t c = load(in + 8) ^ k[2], d = load(in + 12) ^ k[3];
        for (unsigned round = 1; round < AES_ROUNDS; round++) {
            k += 4;
            uint32_t e = u0[ROW0(a)] ^ u1[ROW1(d)] ^ u2[ROW2(c)] ^ u3[ROW3(b)] ^ k[0];
            uint32_t f = u0[ROW0(b)] ^ u1[ROW1(a)] ^ u2[ROW2(d)] ^ u3[ROW3(c)] ^ k[1];
            uint32_t g = u0[ROW0(c)] ^ u1[ROW1(b)] ^ u2[ROW2(a)] ^ u3[ROW3(d)] ^ k[2];
            uint32_t h = u0[ROW0(d)] ^ u1[ROW1(c)] ^ u2[ROW2(b)] ^ u3[ROW3(a)] ^ k[3];
            a = e, b = f, c = g, d = h;
        }
        k += 4;
#define LAST(w, x, y, z)                                                                           \
    COLUMN(inverse_sbox[ROW0(w)], inverse_sbox[ROW1(x)], inverse_sbox[ROW2(y)],                    \
           inverse_sbox[ROW3(z)])
        store(out, LAST(a, d, c, b) ^ k[0]);
        store(out + 4, LAST(b, a, d, c) ^ k[1]);
        store(out + 8, LAST(c, b, a, d) ^ k[2]);
        store(out + 12, LAST(d, c, b, a) ^ k[3]);
#undef LAST
    }
}
