/* The state's bits 0 to 127 are s[0] to s[3], lowest first. */
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

/* 32 steps at once: no tap is closer than 32 bits to the end that is filled. The feedback is
   s0 ^ s47 ^ ~(s70 & s85) ^ s91 ^ key bit. */
static uint32_t feedback(uint32_t s0, uint32_t s1, uint32_t s2, uint32_t s3,
                         uint32_t inverted_key) {
    return s0 ^ (s1 >> 15 | s2 << 17) ^ ((s2 >> 6 | s3 << 26) & (s2 >> 21 | s3 << 11)) ^
           (s2 >> 27 | s3 << 5) ^ inverted_key;
}

static void permute(const tinyjambu_ctx *ctx, uint32_t *s, uint8_t frame, unsigned steps) {
    const uint32_t *k = ctx->inverted_key;
    uint32_t s0 = s[0], s1 = s[1] ^ frame, s2 = s[2], s3 = s[3];
    for (;;) {
        s0 = feedback(s0, s1, s2, s3, k[0]);
        s1 = feedback(s1, s2, s3, s0, k[1]);
        s2 = feedback(s2, s3, s0, s1, k[2]);
        s3 = feedback(s3, s0, s1, s2, k[3]);
        if (steps <= 128)
            break;
        steps -= 128;
    }
    s[0] = s0;
    s[1] = s1;
    s[2] = s2;
    s[3] = s3;
}

void tinyjambu_init(tinyjambu_ctx *ctx, const uint8_t *key) {
    for (size_t i = 0; i < 4; i++)
        ctx->inverted_key[i] = ~load(key + WORD_BYTES * i, WORD_BYTES);
}

static void process(const tinyjambu_ctx *ctx, const aead_message *m, int decrypting, uint8_t *tag) {
    uint32_t s[4] = {0, 0, 0, 0};
    permute(ctx, s, 0, STEPS_LONG);
    for (size_t i = 0; i < TINYJAMBU_NONCE_BYTES; i += WORD_BYTES) {
        permute(ctx, s, FRAME_NONCE, STEPS_SHORT);
        s[3] ^= load(m->nonce + i, WORD_BYTES);
    }

    for (size_t done = 0, part; done < m->ad_length; done += part) {
        part = m->ad_length - done < WORD_BYTES ? m->ad_length - done : WORD_BYTES;
        permute(ctx, s, FRAME_AD, STEPS_SHORT);
        s[3] ^= load(m->ad + done, part);
        s[1] ^= part % WORD_BYTES; /* a partial word is marked with its length */
    }

    for (size_t done = 0, part; done < m->length; done += part) {
        part = m->length - done < WORD_BYTES ? m->length - done : WORD_BYTES;
        permute(ctx, s, FRAME_MESSAGE, STEPS_LONG);
        uint32_t in = load(m->in + done, part);
        uint32_t out = in ^ s[2];
        store(m->out + done, out, part);
        s[3] ^= decrypting ? load(m->out + done, part) : in;
        s[1] ^= part % WORD_BYTES;
    }

    permute(ctx, s, FRAME_TAG, STEPS_LONG);
    store(tag, s[2], WORD_BYTES);
    permute(ctx, s, FRAME_TAG, STEPS_SHORT);
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
