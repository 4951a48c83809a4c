/* The paper's notation, algorithm 2: R and L are the initial offsets O_i of message and header, SCT
   is four unkeyed rounds, A and D accumulate, tau is the tag's length, LFSRC is algorithm 8. */
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

/* sum = sum XOR SCT(part XOR O): a block of Marvin; a short one is padded with zeros. */
static void accumulate(uint8_t *sum, const uint8_t *offset, const uint8_t *part, size_t length) {
    uint8_t block[BLOCK];
    for (size_t i = 0; i < BLOCK; i++)
        block[i] = offset[i];
    crypto_xor(block, block, part, length);
    block_cipher_sct(block);
    crypto_xor(sum, sum, block, BLOCK);
    crypto_wipe(block, sizeof block);
}

/* Marvin's last step: adds the length of the tag and that of the data. */
static void add_lengths(uint8_t *sum, size_t tag_length, size_t length) {
    /* rpad(bin(n - tau) || 1): the number of omitted bits, without leading zeros, and a one. */
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
}

static size_t part_of(size_t left) {
    return left < BLOCK ? left : BLOCK;
}

/* Encrypts or decrypts: LFSRC and Marvin process the message with the same offsets. tag gets BLOCK
   bytes. */
static void process(const lettersoup_ctx *ctx, const aead_message *m, int decrypting,
                    uint8_t *tag) {
    uint8_t offset[BLOCK], stream[BLOCK];
    for (size_t i = 0; i < BLOCK; i++)
        tag[i] = 0;

    if (m->ad_length > 0) { /* D, starting from L */
        for (size_t i = 0; i < BLOCK; i++)
            tag[i] = offset[i] = ctx->l[i];
        for (size_t done = 0, part; done < m->ad_length; done += part) {
            part = part_of(m->ad_length - done);
            next_offset(offset);
            accumulate(tag, offset, m->ad + done, part);
        }
        add_lengths(tag, m->tag_length, m->ad_length);
        block_cipher_sct(tag);
    }

    block_cipher_encrypt(&ctx->cipher, offset, m->nonce, 1); /* A, starting from R = E(N) XOR N */
    crypto_xor(offset, offset, m->nonce, BLOCK);
    crypto_xor(tag, tag, offset, BLOCK);
    for (size_t done = 0, part; done < m->length; done += part) {
        part = part_of(m->length - done);
        next_offset(offset);
        block_cipher_encrypt(&ctx->cipher, stream, offset, 1);
        if (decrypting)
            accumulate(tag, offset, m->in + done, part);
        crypto_xor(m->out + done, m->in + done, stream, part);
        if (!decrypting)
            accumulate(tag, offset, m->out + done, part);
    }
    add_lengths(tag, m->tag_length, m->length);
    block_cipher_encrypt(&ctx->cipher, tag, tag, 1);
    crypto_wipe(offset, sizeof offset);
    crypto_wipe(stream, sizeof stream);
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
    uint8_t tag[BLOCK];
    if (!lengths_allowed(m))
        return CRYPTO_BAD_LENGTH;
    process(ctx, m, 0, tag);
    for (size_t i = 0; i < m->tag_length; i++)
        m->tag[i] = tag[i];
    crypto_wipe(tag, sizeof tag);
    return CRYPTO_OK;
}

crypto_status lettersoup_decrypt(const lettersoup_ctx *ctx, const aead_message *m) {
    uint8_t tag[BLOCK];
    if (!lengths_allowed(m))
        return CRYPTO_BAD_LENGTH;
    process(ctx, m, 1, tag);
    crypto_status status = aead_check_tag(m, tag);
    crypto_wipe(tag, sizeof tag);
    return status;
}
