/* The state is eight planes: plane[i] holds bit i of all 16 bytes, the byte in row r and column c
   at bit 4 r + c.

   ShiftRows is omitted. After k omissions, the planes hold at (r, c + k r) the byte that belongs at
   (r, c). SubBytes is not affected; MixColumns finds the byte below at (r + 1, c + k) instead of (r
   + 1, c); round keys are stored permuted for their round, and the last round's output is read
   accordingly. Only k modulo 4 matters. */
#include "aes.h"
#include "aes-sbox.h"

static uint16_t rotate_rows(uint16_t x) { /* (r, c) gets (r + 1, c) */
    return (uint16_t)(x >> 4 | x << 12);
}

static uint16_t rotate_two_rows(uint16_t x) {
    return (uint16_t)(x >> 8 | x << 8);
}

/* (r, c) gets (r, c + k). */
__attribute__((always_inline)) static inline uint16_t rotate_columns(uint16_t x, unsigned k) {
    switch (k % 4) {
    case 0:
        return x;
    case 1:
        return (uint16_t)((x >> 1 & 0x7777) | (x & 0x1111) << 3);
    case 2:
        return (uint16_t)((x >> 2 & 0x3333) | (x & 0x3333) << 2);
    default:
        return (uint16_t)((x & 0x7777) << 1 | (x >> 3 & 0x1111));
    }
}

/* Returns which byte of the block is at a bit of the planes after k omitted ShiftRows. */
static unsigned source(unsigned bit, unsigned k) {
    unsigned row = bit / 4, column = bit - k * row;
    return 4 * (column % 4) + row;
}

static void swap_bits(uint16_t *a, uint16_t *b, unsigned n, uint16_t mask) {
    uint16_t t = (uint16_t)((*a >> n ^ *b) & mask);
    *b ^= t;
    *a ^= (uint16_t)(t << n);
}

/* Transposes the 8 x 8 bits in the low bytes and in the high bytes of eight words. */
static void transpose(uint16_t x[8]) {
    for (unsigned i = 0; i < 8; i += 2)
        swap_bits(&x[i], &x[i + 1], 1, 0x5555);
    for (unsigned i = 0; i < 8; i += i % 4 == 0 ? 1 : 3)
        swap_bits(&x[i], &x[i + 2], 2, 0x3333);
    for (unsigned i = 0; i < 4; i++)
        swap_bits(&x[i], &x[i + 4], 4, 0x0f0f);
}

static void to_planes(uint16_t plane[8], const uint8_t bytes[16], unsigned k) {
    for (unsigned i = 0; i < 8; i++)
        plane[i] = (uint16_t)(bytes[source(i, k)] | bytes[source(i + 8, k)] << 8);
    transpose(plane);
}

static void from_planes(uint8_t bytes[16], uint16_t plane[8], unsigned k) {
    transpose(plane);
    for (unsigned i = 0; i < 8; i++) {
        bytes[source(i, k)] = (uint8_t)plane[i];
        bytes[source(i + 8, k)] = (uint8_t)(plane[i] >> 8);
    }
}

/* SubBytes without the constant 0x63, which is folded into the round keys: the circuit of figures
   5, 7 and 8 of Boyar and Peralta, "A New Combinational Logic Minimization Technique with
   Applications to Cryptology", with their names. Their x0 and s0 are the most significant bits. */
static void sub_bytes(uint16_t plane[8]) {
    typedef uint16_t word;
    word x0 = plane[7], x1 = plane[6], x2 = plane[5], x3 = plane[4];
    word x4 = plane[3], x5 = plane[2], x6 = plane[1], x7 = plane[0];

    word y14 = x3 ^ x5, y13 = x0 ^ x6, y9 = x0 ^ x3, y8 = x0 ^ x5;
    word t0 = x1 ^ x2, y1 = t0 ^ x7, y4 = y1 ^ x3, y12 = y13 ^ y14;
    word y2 = y1 ^ x0, y5 = y1 ^ x6, y3 = y5 ^ y8, t1 = x4 ^ y12;
    word y15 = t1 ^ x5, y20 = t1 ^ x1, y6 = y15 ^ x7, y10 = y15 ^ t0;
    word y11 = y20 ^ y9, y7 = x7 ^ y11, y17 = y10 ^ y11, y19 = y10 ^ y8;
    word y16 = t0 ^ y11, y21 = y13 ^ y16, y18 = x0 ^ y16;

    word t2 = y12 & y15, t3 = y3 & y6, t4 = t3 ^ t2, t5 = y4 & x7;
    word t6 = t5 ^ t2, t7 = y13 & y16, t8 = y5 & y1, t9 = t8 ^ t7;
    word t10 = y2 & y7, t11 = t10 ^ t7, t12 = y9 & y11, t13 = y14 & y17;
    word t14 = t13 ^ t12, t15 = y8 & y10, t16 = t15 ^ t12, t17 = t4 ^ t14;
    word t18 = t6 ^ t16, t19 = t9 ^ t14, t20 = t11 ^ t16, t21 = t17 ^ y20;
    word t22 = t18 ^ y19, t23 = t19 ^ y21, t24 = t20 ^ y18;
    word t25 = t21 ^ t22, t26 = t21 & t23, t27 = t24 ^ t26, t28 = t25 & t27;
    word t29 = t28 ^ t22, t30 = t23 ^ t24, t31 = t22 ^ t26, t32 = t31 & t30;
    word t33 = t32 ^ t24, t34 = t23 ^ t33, t35 = t27 ^ t33, t36 = t24 & t35;
    word t37 = t36 ^ t34, t38 = t27 ^ t36, t39 = t29 & t38, t40 = t25 ^ t39;
    word t41 = t40 ^ t37, t42 = t29 ^ t33, t43 = t29 ^ t40, t44 = t33 ^ t37;
    word t45 = t42 ^ t41;

    word z0 = t44 & y15, z1 = t37 & y6, z2 = t33 & x7, z3 = t43 & y16;
    word z4 = t40 & y1, z5 = t29 & y7, z6 = t42 & y11, z7 = t45 & y17;
    word z8 = t41 & y10, z9 = t44 & y12, z10 = t37 & y3, z11 = t33 & y4;
    word z12 = t43 & y13, z13 = t40 & y5, z14 = t29 & y2, z15 = t42 & y9;
    word z16 = t45 & y14, z17 = t41 & y8;

    word t46 = z15 ^ z16, t47 = z10 ^ z11, t48 = z5 ^ z13, t49 = z9 ^ z10;
    word t50 = z2 ^ z12, t51 = z2 ^ z5, t52 = z7 ^ z8, t53 = z0 ^ z3;
    word t54 = z6 ^ z7, t55 = z16 ^ z17, t56 = z12 ^ t48, t57 = t50 ^ t53;
    word t58 = z4 ^ t46, t59 = z3 ^ t54, t60 = t46 ^ t57, t61 = z14 ^ t57;
    word t62 = t52 ^ t58, t63 = t49 ^ t58, t64 = z4 ^ t59, t65 = t61 ^ t62;
    word t66 = z1 ^ t63, t67 = t64 ^ t65, s3 = t53 ^ t66;

    plane[7] = t59 ^ t63;
    plane[6] = t64 ^ s3;
    plane[5] = t55 ^ t67;
    plane[4] = s3;
    plane[3] = t51 ^ t66;
    plane[2] = t47 ^ t65;
    plane[1] = t56 ^ t62;
    plane[0] = t48 ^ t60;
}

/* The inverse of the linear part of the affine map in FIPS 197, 5.1.1. */
static void inverse_affine(uint16_t p[8]) {
    uint16_t x[8];
    for (unsigned i = 0; i < 8; i++)
        x[i] = p[i];
    for (unsigned i = 0; i < 8; i++)
        p[i] = x[(i + 2) % 8] ^ x[(i + 5) % 8] ^ x[(i + 7) % 8];
}

/* S is the inversion followed by the affine map A, so the inverse of S is A^-1, S, A^-1. */
static void inverse_sub_bytes(uint16_t plane[8]) {
    inverse_affine(plane);
    sub_bytes(plane);
    inverse_affine(plane);
}

/* With B the bytes one row below and t = a ^ B(a): 2 t ^ B(a) ^ t two rows below. */
__attribute__((always_inline)) static inline void mix_columns_after(uint16_t plane[8], unsigned k) {
    uint16_t below[8], t[8];
    for (unsigned i = 0; i < 8; i++) {
        below[i] = rotate_columns(rotate_rows(plane[i]), k);
        t[i] = plane[i] ^ below[i];
    }
    for (unsigned i = 0; i < 8; i++) {
        uint16_t twice = i == 0 ? t[7] : t[i - 1];
        if (i == 1 || i == 3 || i == 4) /* x^8 = x^4 + x^3 + x + 1 */
            twice ^= t[7];
        plane[i] = twice ^ below[i] ^ rotate_columns(rotate_two_rows(t[i]), 2 * k);
    }
}

static void mix_columns(uint16_t plane[8], unsigned k) {
    switch (k % 4) {
    case 0:
        mix_columns_after(plane, 0);
        break;
    case 1:
        mix_columns_after(plane, 1);
        break;
    case 2:
        mix_columns_after(plane, 2);
        break;
    default:
        mix_columns_after(plane, 3);
    }
}

/* The inverse matrix is the matrix times circ(5, 0, 4, 0): Daemen and Rijmen, The Design of
   Rijndael, section 4.1.3. */
static void inverse_mix_columns(uint16_t plane[8], unsigned k) {
    uint16_t u[8];
    for (unsigned i = 0; i < 8; i++) {
        uint16_t two_below = rotate_two_rows(plane[i]);
        u[i] = plane[i] ^ (k % 2 == 0 ? two_below : rotate_columns(two_below, 2));
    }
    plane[0] ^= u[6];
    plane[1] ^= u[6] ^ u[7];
    plane[2] ^= u[0] ^ u[7];
    plane[3] ^= u[1] ^ u[6];
    plane[4] ^= u[2] ^ u[6] ^ u[7];
    plane[5] ^= u[3] ^ u[7];
    plane[6] ^= u[4];
    plane[7] ^= u[5];
    mix_columns(plane, k);
}

static void add_round_key(uint16_t plane[8], const uint16_t round_key[8]) {
    for (unsigned i = 0; i < 8; i++)
        plane[i] ^= round_key[i];
}

/* SubWord of FIPS 197, 5.2, without the constant. */
static void sub_word(uint8_t word[16], uint16_t plane[8]) {
    to_planes(plane, word, 0);
    sub_bytes(plane);
    from_planes(word, plane, 0);
}

void aes_init(aes_ctx *ctx, const uint8_t *key) {
    uint8_t w[AES_SCHEDULE_BYTES], word[16] = {0};
    uint16_t plane[8];
    for (unsigned i = 0; i < AES_KEY_BYTES; i++)
        w[i] = key[i];
    uint8_t rcon = 1;
    for (unsigned i = AES_KEY_BYTES; i < AES_SCHEDULE_BYTES; i += 4) {
        for (unsigned j = 0; j < 4; j++)
            word[j] = w[i - 4 + j];
        if (i % AES_KEY_BYTES == 0) {
            sub_word(word, plane);
            uint8_t first = word[0];
            word[0] = word[1] ^ 0x63 ^ rcon;
            word[1] = word[2] ^ 0x63;
            word[2] = word[3] ^ 0x63;
            word[3] = first ^ 0x63;
            rcon = (uint8_t)AES_MUL2(rcon);
        } else if (AES_KEY_WORDS > 6 && i % AES_KEY_BYTES == 16) {
            sub_word(word, plane);
            for (unsigned j = 0; j < 4; j++)
                word[j] ^= 0x63;
        }
        for (unsigned j = 0; j < 4; j++)
            w[i + j] = w[i - AES_KEY_BYTES + j] ^ word[j];
    }
    for (unsigned round = 0; round <= AES_ROUNDS; round++) {
        uint16_t *round_key = ctx->round_keys[round];
        to_planes(round_key, w + 16 * round, round);
        if (round > 0) { /* the constant of SubBytes, which MixColumns leaves unchanged */
            for (unsigned i = 0; i < 8; i++)
                round_key[i] ^= 0x63 >> i & 1 ? 0xffff : 0;
        }
    }
    crypto_wipe(w, sizeof w);
    crypto_wipe(word, sizeof word);
    crypto_wipe(plane, sizeof plane);
}

void aes_encrypt(const aes_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) {
    uint16_t plane[8];
    for (; blocks > 0; blocks--, in += 16, out += 16) {
        to_planes(plane, in, 0);
        add_round_key(plane, ctx->round_keys[0]);
        for (unsigned round = 1; round < AES_ROUNDS; round++) {
            sub_bytes(plane);
            mix_columns(plane, round);
            add_round_key(plane, ctx->round_keys[round]);
        }
        sub_bytes(plane);
        add_round_key(plane, ctx->round_keys[AES_ROUNDS]);
        from_planes(out, plane, AES_ROUNDS);
    }
    crypto_wipe(plane, sizeof plane);
}

void aes_decrypt(const aes_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) {
    uint16_t plane[8];
    for (; blocks > 0; blocks--, in += 16, out += 16) {
        to_planes(plane, in, AES_ROUNDS);
        add_round_key(plane, ctx->round_keys[AES_ROUNDS]);
        inverse_sub_bytes(plane);
        for (unsigned round = AES_ROUNDS - 1; round > 0; round--) {
            add_round_key(plane, ctx->round_keys[round]);
            inverse_mix_columns(plane, round);
            inverse_sub_bytes(plane);
        }
        add_round_key(plane, ctx->round_keys[0]);
        from_planes(out, plane, 0);
    }
    crypto_wipe(plane, sizeof plane);
}
