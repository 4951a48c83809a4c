/* Cyclist, over Xoodoo[12], with the specification's names: Up, Down, colours c_U and c_D. An
   implementation defines, before it includes this,
     static void xoodoo(uint8_t state[48]);   the state is aligned for words */
#include "aead/xoodyak/xoodyak.h"

enum { STATE_BYTES = XOODYAK_STATE_BYTES, RATE_ABSORB = 44, RATE_CRYPT = 24 };
enum { DOWN_KEY = 0x02, DOWN_ABSORB = 0x03, UP_CRYPT = 0x80, UP_SQUEEZE = 0x40 };

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
    _Alignas(uint32_t) uint8_t state[STATE_BYTES] = {0};
    size_t done, part;

    /* Cyclist(K, N, -): K || N || enc8(|N|) fits in one block. */
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

    /* Crypt */
    done = 0;
    do {
        part = m->length - done < RATE_CRYPT ? m->length - done : RATE_CRYPT;
        up(state, done == 0 ? UP_CRYPT : 0);
        if (decrypting) {
            crypto_xor(m->out + done, m->in + done, state, part);
            crypto_xor(state, state, m->out + done, part);
        } else {
            crypto_xor(state, state, m->in + done, part);
            for (size_t i = 0; i < part; i++)
                m->out[done + i] = state[i];
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
