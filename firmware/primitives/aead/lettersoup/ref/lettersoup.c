/* The paper's notation, algorithm 2: R and L start the offsets O_i of message and header, SCT is
   four unkeyed rounds, A and D accumulate, tau is the tag's length, LFSRC is algorithm 8. */
#include "lettersoup.h"

enum { BLOCK = BLOCK_CIPHER_BLOCK_BYTES };
_Static_assert(BLOCK == 12, "LetterSoup: block of 96 bits");

/* O_(i+1) = O_i x^8 modulo x^96 + x^16 + x^13 + x^11 + 1 (algorithm 6 with w = 8). */
static void next_offset(uint8_t *o) {
    unsigned top = o[0];
    for (size_t i = 0; i < BLOCK - 1; i++)
        o[i] = o[i + 1];
    o[BLOCK - 1] = (uint8_t)top;
    o[BLOCK - 2] ^= (uint8_t)(top << 5 ^ top << 3);
    o[BLOCK - 3] ^= (uint8_t)(top ^ top >> 3 ^ top >> 5);
}

/* Marvin's accumulator: sum = sum XOR start XOR SCT(data_i XOR O_i) over the blocks, XOR the tag's
   length and the data's. */
static void accumulate(uint8_t *sum, const uint8_t *start, const uint8_t *data, size_t length,
                       size_t tag_length) {
    uint8_t offset[BLOCK], block[BLOCK];
    for (size_t i = 0; i < BLOCK; i++) {
        offset[i] = start[i];
        sum[i] ^= start[i];
    }
    for (size_t done = 0, part; done < length; done += part) {
        part = length - done < BLOCK ? length - done : BLOCK;
        next_offset(offset);
        for (size_t i = 0; i < BLOCK; i++)
            block[i] = offset[i];
        aead_xor(block, block, data + done, part);
        block_cipher_sct(block);
        aead_xor(sum, sum, block, BLOCK);
    }

    /* rpad(bin(n - tau) || 1): the number of bits left out, without leading zeros, and a one. */
    unsigned left_out = (unsigned)(8 * (BLOCK - tag_length)) << 1 | 1;
    while (left_out < 0x80)
        left_out <<= 1;
    sum[0] ^= (uint8_t)left_out;
    /* lpad(bin(|data|)), in bits */
    sum[BLOCK - 1] ^= (uint8_t)(length << 3);
    length >>= 5;
    for (size_t i = BLOCK - 1; i-- > 0 && length > 0;) {
        sum[i] ^= (uint8_t)length;
        length = length >> 4 >> 4;
    }
    crypto_wipe(offset, sizeof offset);
    crypto_wipe(block, sizeof block);
}

/* R = E(N) XOR N */
static void make_r(const lettersoup_ctx *ctx, uint8_t *r, const aead_message *m) {
    block_cipher_encrypt(&ctx->cipher, r, m->nonce, 1);
    aead_xor(r, r, m->nonce, BLOCK);
}

static void lfsrc(const lettersoup_ctx *ctx, const uint8_t *r, const aead_message *m) {
    uint8_t offset[BLOCK], stream[BLOCK];
    for (size_t i = 0; i < BLOCK; i++)
        offset[i] = r[i];
    for (size_t done = 0, part; done < m->length; done += part) {
        part = m->length - done < BLOCK ? m->length - done : BLOCK;
        next_offset(offset);
        block_cipher_encrypt(&ctx->cipher, stream, offset, 1);
        aead_xor(m->out + done, m->in + done, stream, part);
    }
    crypto_wipe(offset, sizeof offset);
    crypto_wipe(stream, sizeof stream);
}

static void make_tag(const lettersoup_ctx *ctx, uint8_t *tag, const uint8_t *r,
                     const aead_message *m, const uint8_t *ciphertext) {
    for (size_t i = 0; i < BLOCK; i++)
        tag[i] = 0;
    if (m->ad_length > 0) {
        accumulate(tag, ctx->l, m->ad, m->ad_length, m->tag_length); /* D */
        block_cipher_sct(tag);
    }
    accumulate(tag, r, ciphertext, m->length, m->tag_length); /* A */
    block_cipher_encrypt(&ctx->cipher, tag, tag, 1);
}

static int lengths_allowed(const aead_message *m) {
    return m->nonce_length == LETTERSOUP_NONCE_BYTES && m->tag_length >= 4 &&
           m->tag_length <= LETTERSOUP_TAG_BYTES;
}

void lettersoup_init(lettersoup_ctx *ctx, const uint8_t *key) {
    block_cipher_init(&ctx->cipher, key);
    for (size_t i = 0; i < BLOCK; i++)
        ctx->l[i] = 0;
    block_cipher_encrypt(&ctx->cipher, ctx->l, ctx->l, 1);
}

crypto_status lettersoup_encrypt(const lettersoup_ctx *ctx, const aead_message *m) {
    uint8_t r[BLOCK], tag[BLOCK];
    if (!lengths_allowed(m))
        return CRYPTO_BAD_LENGTH;
    make_r(ctx, r, m);
    lfsrc(ctx, r, m);
    make_tag(ctx, tag, r, m, m->out);
    for (size_t i = 0; i < m->tag_length; i++)
        m->tag[i] = tag[i];
    crypto_wipe(r, sizeof r);
    crypto_wipe(tag, sizeof tag);
    return CRYPTO_OK;
}

crypto_status lettersoup_decrypt(const lettersoup_ctx *ctx, const aead_message *m) {
    uint8_t r[BLOCK], tag[BLOCK];
    if (!lengths_allowed(m))
        return CRYPTO_BAD_LENGTH;
    make_r(ctx, r, m);
    make_tag(ctx, tag, r, m, m->in);
    crypto_status status = aead_check_tag(m, tag);
    if (status == CRYPTO_OK)
        lfsrc(ctx, r, m);
    crypto_wipe(r, sizeof r);
    crypto_wipe(tag, sizeof tag);
    return status;
}
