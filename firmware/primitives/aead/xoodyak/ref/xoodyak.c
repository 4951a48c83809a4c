/* The specification's names: Up, Down, colours c_U and c_D, planes A_y of four lanes. */
#include "xoodyak.h"

enum { STATE_BYTES = 48, RATE_ABSORB = 44, RATE_CRYPT = 24 };
enum { DOWN_KEY = 0x02, DOWN_ABSORB = 0x03, UP_CRYPT = 0x80, UP_SQUEEZE = 0x40 };

static uint32_t rotate_left(uint32_t x, unsigned n) {
    return x << n | x >> (32 - n);
}

static void xoodoo(uint8_t *state) {
    static const uint16_t constant[12] = {0x058, 0x038, 0x3c0, 0x0d0, 0x120, 0x014,
                                          0x060, 0x02c, 0x380, 0x0f0, 0x1a0, 0x012};
    uint32_t a[3][4], b[4], p[4];

    for (size_t i = 0; i < 12; i++)
        a[i / 4][i % 4] = state[4 * i] | (uint32_t)state[4 * i + 1] << 8 |
                          (uint32_t)state[4 * i + 2] << 16 | (uint32_t)state[4 * i + 3] << 24;

    for (size_t round = 0; round < 12; round++) {
        /* theta */
        for (size_t x = 0; x < 4; x++)
            p[x] = a[0][x] ^ a[1][x] ^ a[2][x];
        for (size_t x = 0; x < 4; x++) {
            uint32_t e = rotate_left(p[(x + 3) % 4], 5) ^ rotate_left(p[(x + 3) % 4], 14);
            a[0][x] ^= e;
            a[1][x] ^= e;
            a[2][x] ^= e;
        }
        /* rho west and iota */
        for (size_t x = 0; x < 4; x++)
            b[x] = a[1][(x + 3) % 4];
        for (size_t x = 0; x < 4; x++) {
            a[1][x] = b[x];
            a[2][x] = rotate_left(a[2][x], 11);
        }
        a[0][0] ^= constant[round];
        /* chi and rho east */
        for (size_t x = 0; x < 4; x++) {
            uint32_t a0 = a[0][x], a1 = a[1][x], a2 = a[2][x];
            a[0][x] = a0 ^ (~a1 & a2);
            a[1][x] = rotate_left(a1 ^ (~a2 & a0), 1);
            b[x] = rotate_left(a2 ^ (~a0 & a1), 8);
        }
        for (size_t x = 0; x < 4; x++)
            a[2][x] = b[(x + 2) % 4];
    }

    for (size_t i = 0; i < STATE_BYTES; i++)
        state[i] = (uint8_t)(a[i / 16][i / 4 % 4] >> (8 * (i % 4)));
    crypto_wipe(a, sizeof a);
    crypto_wipe(b, sizeof b);
    crypto_wipe(p, sizeof p);
}

static void up(uint8_t *state, uint8_t colour) {
    state[STATE_BYTES - 1] ^= colour;
    xoodoo(state);
}

/* The end of Down, after `length` bytes of a block have been added. */
static void down_end(uint8_t *state, size_t length, uint8_t colour) {
    state[length] ^= 0x01;
    state[STATE_BYTES - 1] ^= colour;
}

static void process(const xoodyak_ctx *ctx, const aead_message *m, int decrypting, uint8_t *tag) {
    uint8_t state[STATE_BYTES] = {0};
    size_t done, part;

    /* Cyclist(K, N, -): K || N || enc8(|N|) fits in one block. */
    aead_xor(state, state, ctx->key, XOODYAK_KEY_BYTES);
    aead_xor(state + XOODYAK_KEY_BYTES, state + XOODYAK_KEY_BYTES, m->nonce, XOODYAK_NONCE_BYTES);
    state[XOODYAK_KEY_BYTES + XOODYAK_NONCE_BYTES] ^= XOODYAK_NONCE_BYTES;
    down_end(state, XOODYAK_KEY_BYTES + XOODYAK_NONCE_BYTES + 1, DOWN_KEY);

    /* Absorb(A): at least one block, as in Crypt. */
    done = 0;
    do {
        part = m->ad_length - done < RATE_ABSORB ? m->ad_length - done : RATE_ABSORB;
        up(state, 0);
        if (part > 0)
            aead_xor(state, state, m->ad + done, part);
        down_end(state, part, done == 0 ? DOWN_ABSORB : 0);
        done += part;
    } while (done < m->ad_length);

    /* Crypt */
    done = 0;
    do {
        part = m->length - done < RATE_CRYPT ? m->length - done : RATE_CRYPT;
        up(state, done == 0 ? UP_CRYPT : 0);
        for (size_t i = 0; i < part; i++) {
            uint8_t in = m->in[done + i], out = (uint8_t)(in ^ state[i]);
            m->out[done + i] = out;
            state[i] ^= decrypting ? out : in;
        }
        down_end(state, part, 0);
        done += part;
    } while (done < m->length);

    up(state, UP_SQUEEZE);
    for (size_t i = 0; i < XOODYAK_TAG_BYTES; i++)
        tag[i] = state[i];
    crypto_wipe(state, sizeof state);
}

static int lengths_allowed(const aead_message *m) {
    return m->nonce_length == XOODYAK_NONCE_BYTES && m->tag_length == XOODYAK_TAG_BYTES;
}

void xoodyak_init(xoodyak_ctx *ctx, const uint8_t *key) {
    for (size_t i = 0; i < XOODYAK_KEY_BYTES; i++)
        ctx->key[i] = key[i];
}

crypto_status xoodyak_encrypt(const xoodyak_ctx *ctx, const aead_message *m) {
    if (!lengths_allowed(m))
        return CRYPTO_BAD_LENGTH;
    process(ctx, m, 0, m->tag);
    return CRYPTO_OK;
}

crypto_status xoodyak_decrypt(const xoodyak_ctx *ctx, const aead_message *m) {
    uint8_t tag[XOODYAK_TAG_BYTES];
    if (!lengths_allowed(m))
        return CRYPTO_BAD_LENGTH;
    process(ctx, m, 1, tag);
    return aead_check_tag(m, tag);
}
