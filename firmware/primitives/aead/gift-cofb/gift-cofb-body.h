/* COFB in the notation of the specification, by words, first byte most significant. An
   implementation defines gift_cofb_ctx and, before it includes this, a function that encrypts a
   block in place:
     static void gift128_encrypt(const gift_cofb_ctx *ctx, uint32_t block[4]); */

enum { COFB_BLOCK_BYTES = 16 };

/* L = 2L, in GF(2^64) modulo x^64 + x^4 + x^3 + x + 1 */
static void double_l(uint32_t *l) {
    uint32_t carry = crypto_mask32((unsigned)(l[0] >> 31)) & 0x1bu;
    l[0] = l[0] << 1 | l[1] >> 31;
    l[1] = l[1] << 1 ^ carry;
}

/* L = 3L */
static void triple_l(uint32_t *l) {
    uint32_t high = l[0], low = l[1];
    double_l(l);
    l[0] ^= high;
    l[1] ^= low;
}

/* Y = E(X XOR G(Y) XOR (L || 0)), with G(Y1 || Y2) = Y2 || Y1 <<< 1. */
static void absorb(const gift_cofb_ctx *ctx, uint32_t *y, const uint32_t *x, const uint32_t *l) {
    uint32_t y0 = y[0], y1 = y[1];
    y[0] = y[2] ^ x[0] ^ l[0];
    y[1] = y[3] ^ x[1] ^ l[1];
    y[2] = (y0 << 1 | y1 >> 31) ^ x[2];
    y[3] = (y1 << 1 | y0 >> 31) ^ x[3];
    gift128_encrypt(ctx, y);
}

/* Loads the last block of associated data or of the message, padded with 10* unless it is
   complete. */
static void load_last(uint32_t *x, const uint8_t *in, size_t length) {
    uint8_t padded[COFB_BLOCK_BYTES] = {0};
    for (size_t i = 0; i < length; i++)
        padded[i] = in[i];
    if (length < COFB_BLOCK_BYTES)
        padded[length] = 0x80;
    load_block(x, padded);
    crypto_wipe(padded, sizeof padded);
}

/* Encrypts or decrypts. */
CRYPTO_NOT_INLINE static void process(const gift_cofb_ctx *ctx, const aead_message *m,
                                      int decrypting, uint8_t *tag) {
    uint32_t y[4], l[2], x[4];
    uint8_t stream[COFB_BLOCK_BYTES];
    size_t done = 0, left;
    load_block(y, m->nonce);
    gift128_encrypt(ctx, y);
    l[0] = y[0];
    l[1] = y[1];

    for (; m->ad_length - done > COFB_BLOCK_BYTES; done += COFB_BLOCK_BYTES) {
        double_l(l);
        load_block(x, m->ad + done);
        absorb(ctx, y, x, l);
    }
    left = m->ad_length - done;
    triple_l(l);
    if (left < COFB_BLOCK_BYTES)
        triple_l(l);
    if (m->length == 0) {
        triple_l(l);
        triple_l(l);
    }
    load_last(x, m->ad + done, left);
    absorb(ctx, y, x, l);

    for (done = 0; m->length - done > COFB_BLOCK_BYTES; done += COFB_BLOCK_BYTES) {
        double_l(l);
        load_block(x, m->in + done);
        for (size_t i = 0; i < 4; i++) {
            uint32_t out = x[i] ^ y[i];
            store32(m->out + done + 4 * i, out);
            if (decrypting)
                x[i] = out;
        }
        absorb(ctx, y, x, l);
    }
    left = m->length - done;
    if (left > 0) {
        const uint8_t *plain = decrypting ? m->out + done : m->in + done;
        triple_l(l);
        if (left < COFB_BLOCK_BYTES)
            triple_l(l);
        store_block(stream, y);
        if (decrypting)
            crypto_xor(m->out + done, m->in + done, stream, left);
        load_last(x, plain, left);
        if (!decrypting)
            crypto_xor(m->out + done, m->in + done, stream, left);
        absorb(ctx, y, x, l);
    }
    store_block(tag, y);
    crypto_wipe(y, sizeof y);
    crypto_wipe(l, sizeof l);
    crypto_wipe(x, sizeof x);
    crypto_wipe(stream, sizeof stream);
}

/* The frames of the functions that process calls hold registers with plaintext. */
CRYPTO_WIPE_FRAMES(wipe_frames, 320)

static int lengths_allowed(const aead_message *m) {
    return m->nonce_length == GIFT_COFB_NONCE_BYTES && m->tag_length == GIFT_COFB_TAG_BYTES;
}

crypto_status gift_cofb_encrypt(const gift_cofb_ctx *ctx, const aead_message *m) {
    if (!lengths_allowed(m))
        return CRYPTO_BAD_LENGTH;
    process(ctx, m, 0, m->tag);
    return CRYPTO_OK;
}

crypto_status gift_cofb_decrypt(const gift_cofb_ctx *ctx, const aead_message *m) {
    uint8_t tag[GIFT_COFB_TAG_BYTES];
    if (!lengths_allowed(m))
        return CRYPTO_BAD_LENGTH;
    process(ctx, m, 1, tag);
    crypto_status status = aead_check_tag(m, tag);
    if (status != CRYPTO_OK)
        wipe_frames();
    return status;
}
