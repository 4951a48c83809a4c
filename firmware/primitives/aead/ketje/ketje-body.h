/* MonkeyWrap over MonkeyDuplex (Ketje v1). An implementation defines, before it
   includes this,
     keccak_state                                          a type
     static uint8_t *keccak_bytes(keccak_state *s);        the state's 50 bytes at present:
                                                           lane (x, y) in bytes 2(5y + x), low first
     static void keccak_p400(keccak_state *s, unsigned rounds);   the last of the 20 rounds */
#include "aead.h"

enum {
    KETJE_STATE_BYTES = 50,
    KETJE_BLOCK_BYTES = 4, /* rho of Ketje Sr */
    KETJE_START_ROUNDS = 12,
    KETJE_STEP_ROUNDS = 1,
    KETJE_STRIDE_ROUNDS = 6
};

/* What follows a block in the rate, lowest bit first: the frame bits and the first bit of the
   padding 10*1. FRAME_END is its last bit, at bit 35, where the rate of 36 bits ends. */
enum {
    FRAME_AD = 0x4,           /* 00 1 */
    FRAME_AD_LAST = 0x6,      /* 01 1 */
    FRAME_MESSAGE = 0x7,      /* 11 1 */
    FRAME_MESSAGE_LAST = 0x5, /* 10 1 */
    FRAME_TAG = 0x2,          /* 0 1, with no block */
    FRAME_END = 0x8
};

static void frame(keccak_state *s, size_t block_bytes, uint8_t bits, unsigned rounds) {
    uint8_t *state = keccak_bytes(s);
    state[block_bytes] ^= bits;
    state[KETJE_BLOCK_BYTES] ^= FRAME_END;
    keccak_p400(s, rounds);
}

static void absorb(keccak_state *s, const uint8_t *in, size_t length) {
    uint8_t *state = keccak_bytes(s);
    crypto_xor(state, state, in, length);
}

/* Fills the state with key pack, nonce and padding, then absorbs all associated data. */
static void start(const ketje_ctx *ctx, keccak_state *s, const aead_message *m) {
    uint8_t *state = keccak_bytes(s);
    state[0] = KETJE_KEY_BYTES + 2;
    for (size_t i = 0; i < KETJE_KEY_BYTES; i++)
        state[1 + i] = ctx->key[i];
    state[1 + KETJE_KEY_BYTES] = 0x01;
    for (size_t i = 0; i < m->nonce_length; i++)
        state[2 + KETJE_KEY_BYTES + i] = m->nonce[i];
    state[2 + KETJE_KEY_BYTES + m->nonce_length] ^= 0x01;
    state[KETJE_STATE_BYTES - 1] ^= 0x80;
    keccak_p400(s, KETJE_START_ROUNDS);

    size_t done = 0;
    for (; m->ad_length - done > KETJE_BLOCK_BYTES; done += KETJE_BLOCK_BYTES) {
        absorb(s, m->ad + done, KETJE_BLOCK_BYTES);
        frame(s, KETJE_BLOCK_BYTES, FRAME_AD, KETJE_STEP_ROUNDS);
    }
    if (m->ad_length > done)
        absorb(s, m->ad + done, m->ad_length - done);
    frame(s, m->ad_length - done, FRAME_AD_LAST, KETJE_STEP_ROUNDS);
}

/* Encrypts at most a block. The ciphertext is also the state after absorbing the plaintext, as the
   key stream is the rate. */
static void wrap(keccak_state *s, uint8_t *out, const uint8_t *in, size_t length) {
    uint8_t *state = keccak_bytes(s);
    for (size_t i = 0; i < length; i++)
        out[i] = state[i] ^= in[i];
}

static void unwrap(keccak_state *s, uint8_t *out, const uint8_t *in, size_t length) {
    uint8_t *state = keccak_bytes(s);
    for (size_t i = 0; i < length; i++) {
        uint8_t c = in[i], p = (uint8_t)(state[i] ^ c);
        state[i] = c;
        out[i] = p;
    }
}

/* Encrypts or decrypts; tag gets KETJE_TAG_BYTES. */
static void process(const ketje_ctx *ctx, const aead_message *m, int decrypting, uint8_t *tag) {
    void (*crypt)(keccak_state *, uint8_t *, const uint8_t *, size_t) = decrypting ? unwrap : wrap;
    keccak_state s = {0};
    size_t done = 0;
    start(ctx, &s, m);
    for (; m->length - done > KETJE_BLOCK_BYTES; done += KETJE_BLOCK_BYTES) {
        crypt(&s, m->out + done, m->in + done, KETJE_BLOCK_BYTES);
        frame(&s, KETJE_BLOCK_BYTES, FRAME_MESSAGE, KETJE_STEP_ROUNDS);
    }
    if (m->length > done)
        crypt(&s, m->out + done, m->in + done, m->length - done);
    frame(&s, m->length - done, FRAME_MESSAGE_LAST, KETJE_STRIDE_ROUNDS);

    for (size_t i = 0; i < KETJE_TAG_BYTES; i++) {
        if (i > 0 && i % KETJE_BLOCK_BYTES == 0)
            frame(&s, 0, FRAME_TAG, KETJE_STEP_ROUNDS);
        tag[i] = keccak_bytes(&s)[i % KETJE_BLOCK_BYTES];
    }
    crypto_wipe(&s, sizeof s);
}

/* The longest nonce leaves room for the key pack and two bits of padding, which take a whole
   byte. */
static int lengths_allowed(const aead_message *m) {
    return m->nonce_length < KETJE_STATE_BYTES - KETJE_KEY_BYTES - 2 && m->tag_length >= 4 &&
           m->tag_length <= KETJE_TAG_BYTES;
}

void ketje_init(ketje_ctx *ctx, const uint8_t *key) {
    for (size_t i = 0; i < KETJE_KEY_BYTES; i++)
        ctx->key[i] = key[i];
}

crypto_status ketje_encrypt(const ketje_ctx *ctx, const aead_message *m) {
    uint8_t tag[KETJE_TAG_BYTES];
    if (!lengths_allowed(m))
        return CRYPTO_BAD_LENGTH;
    process(ctx, m, 0, tag);
    for (size_t i = 0; i < m->tag_length; i++)
        m->tag[i] = tag[i];
    crypto_wipe(tag, sizeof tag);
    return CRYPTO_OK;
}

crypto_status ketje_decrypt(const ketje_ctx *ctx, const aead_message *m) {
    uint8_t tag[KETJE_TAG_BYTES];
    if (!lengths_allowed(m))
        return CRYPTO_BAD_LENGTH;
    process(ctx, m, 1, tag);
    crypto_status status = aead_check_tag(m, tag);
    crypto_wipe(tag, sizeof tag);
    return status;
}
