/* Cyclist, over Xoodoo[12], with the specification's names: Up, Down, colours c_U and c_D. An
   implementation defines, before it includes this,
     static void xoodoo(uint8_t state[48]);   with a word-aligned state
   and may define XOODYAK_CRYPT_BLOCKS and
     static void crypt_blocks(uint8_t state[48], uint8_t *out, const uint8_t *in, size_t blocks,
                              int decrypting);
   which Crypts whole blocks of 24 bytes: Up without a colour, the block, Down. */
#include "aead/xoodyak/xoodyak.h"

enum { STATE_BYTES = XOODYAK_STATE_BYTES, RATE_ABSORB = 44, RATE_CRYPT = 24 };
enum { DOWN_KEY = 0x02, DOWN_ABSORB = 0x03, UP_CRYPT = 0x80, UP_SQUEEZE = 0x40 };

static void up(uint8_t *state, uint8_t colour) {
    state[STATE_BYTES - 1] ^= colour;
    xoodoo(state);
}

/* The end of Down, after `length` bytes of a block were added. */
static void down_end(uint8_t *state, size_t length, uint8_t colour) {
    state[length] ^= 0x01;
    state[STATE_BYTES - 1] ^= colour;
}

/* A block of Crypt, after Up. */
static inline void crypt(uint8_t *state, uint8_t *out, const uint8_t *in, size_t length,
                         int decrypting) {
    if (decrypting) {
        crypto_xor(out, in, state, length);
        crypto_xor(state, state, out, length);
    } else {
        crypto_xor(state, state, in, length);
        for (size_t i = 0; i < length; i++)
            out[i] = state[i];
    }
    down_end(state, length, 0);
}

#ifndef XOODYAK_CRYPT_BLOCKS
static void crypt_blocks(uint8_t *state, uint8_t *out, const uint8_t *in, size_t blocks,
                         int decrypting) {
    for (; blocks > 0; blocks--, in += RATE_CRYPT, out += RATE_CRYPT) {
        up(state, 0);
        crypt(state, out, in, RATE_CRYPT, decrypting);
    }
}
#endif

static void process(const xoodyak_ctx *ctx, const aead_message *m, int decrypting, uint8_t *tag) {
    _Alignas(uint32_t) uint8_t state[STATE_BYTES] = {0};
    size_t done, part;

    /* Cyclist(K, N, -): K || N || enc8(|N|) fits into one block. */
    crypto_xor(state, state, ctx->key, XOODYAK_KEY_BYTES);
    crypto_xor(state + XOODYAK_KEY_BYTES, state + XOODYAK_KEY_BYTES, m->nonce, XOODYAK_NONCE_BYTES);
    state[XOODYAK_KEY_BYTES + XOODYAK_NONCE_BYTES] ^= XOODYAK_NONCE_BYTES;
    down_end(state, XOODYAK_KEY_BYTES + XOODYAK_NONCE_BYTES + 1, DOWN_KEY);

    /* Absorb(A): at least one block, as in Crypt. */
    done = 0;
    do {
        part = m->ad_length - done < RATE_ABSORB ? m->ad_length - done : RATE_ABSORB;
        up(state, 0);
        if (part > 0)
            crypto_xor(state, state, m->ad + done, part);
        down_end(state, part, done == 0 ? DOWN_ABSORB : 0);
        done += part;
    } while (done < m->ad_length);

    /* Crypt: at least one block, the first of them with a colour. */
    state[STATE_BYTES - 1] ^= UP_CRYPT;
    part = m->length % RATE_CRYPT;
    done = m->length - part;
    crypt_blocks(state, m->out, m->in, done / RATE_CRYPT, decrypting);
    if (part > 0 || m->length == 0) {
        up(state, 0);
        crypt(state, m->out + done, m->in + done, part, decrypting);
    }

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
