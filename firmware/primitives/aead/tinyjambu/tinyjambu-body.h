/* The mode around the permutation; an implementation includes this. */
#include "tinyjambu.h"

enum { WORD_BYTES = 4 };
enum { STEPS_SHORT = 640, STEPS_LONG = 1024 }; /* P_640 and P_1024 of version 2 */
enum { FRAME_NONCE = 0x10, FRAME_AD = 0x30, FRAME_MESSAGE = 0x50, FRAME_TAG = 0x70 };

static uint32_t load(const uint8_t *in, size_t length) {
    uint32_t word = 0;
    while (length > 0)
        word = word << 8 | in[--length];
    return word;
}

static void store(uint8_t *out, uint32_t word, size_t length) {
    for (size_t i = 0; i < length; i++) {
        out[i] = (uint8_t)word;
        word >>= 8;
    }
}

void tinyjambu_init(tinyjambu_ctx *ctx, const uint8_t *key) {
    for (size_t i = 0; i < 4; i++)
        ctx->inverted_key[i] = ~load(key + WORD_BYTES * i, WORD_BYTES);
}

static void process(const tinyjambu_ctx *ctx, const aead_message *m, int decrypting, uint8_t *tag) {
    uint32_t s[4] = {0, 0, 0, 0};
    tinyjambu_permute(ctx, s, 0, STEPS_LONG);
    for (size_t i = 0; i < TINYJAMBU_NONCE_BYTES; i += WORD_BYTES) {
        tinyjambu_permute(ctx, s, FRAME_NONCE, STEPS_SHORT);
        s[3] ^= load(m->nonce + i, WORD_BYTES);
    }

    for (size_t at = 0, part; at < m->ad_length; at += part) {
        part = m->ad_length - at < WORD_BYTES ? m->ad_length - at : WORD_BYTES;
        tinyjambu_permute(ctx, s, FRAME_AD, STEPS_SHORT);
        s[3] ^= load(m->ad + at, part);
        s[1] ^= part % WORD_BYTES; /* a partial word is marked with its length */
    }

    size_t done = 0;
#ifdef TINYJAMBU_CRYPT
    size_t words = m->length / WORD_BYTES;
    if (words > 0)
        tinyjambu_crypt(ctx, s, m->out, m->in, words, decrypting);
    done = words * WORD_BYTES;
#endif
    for (size_t part; done < m->length; done += part) {
        part = m->length - done < WORD_BYTES ? m->length - done : WORD_BYTES;
        tinyjambu_permute(ctx, s, FRAME_MESSAGE, STEPS_LONG);
        uint32_t in = load(m->in + done, part);
        uint32_t out = in ^ s[2];
        store(m->out + done, out, part);
        s[3] ^= decrypting ? load(m->out + done, part) : in;
        s[1] ^= part % WORD_BYTES;
    }

    tinyjambu_permute(ctx, s, FRAME_TAG, STEPS_LONG);
    store(tag, s[2], WORD_BYTES);
    tinyjambu_permute(ctx, s, FRAME_TAG, STEPS_SHORT);
    store(tag + WORD_BYTES, s[2], WORD_BYTES);
    crypto_wipe(s, sizeof s);
}

static int lengths_allowed(const aead_message *m) {
    return m->nonce_length == TINYJAMBU_NONCE_BYTES && m->tag_length == TINYJAMBU_TAG_BYTES;
}

crypto_status tinyjambu_encrypt(const tinyjambu_ctx *ctx, const aead_message *m) {
    if (!lengths_allowed(m))
        return CRYPTO_BAD_LENGTH;
    process(ctx, m, 0, m->tag);
    return CRYPTO_OK;
}

crypto_status tinyjambu_decrypt(const tinyjambu_ctx *ctx, const aead_message *m) {
    uint8_t tag[TINYJAMBU_TAG_BYTES];
    if (!lengths_allowed(m))
        return CRYPTO_BAD_LENGTH;
    process(ctx, m, 1, tag);
    return aead_check_tag(m, tag);
}
