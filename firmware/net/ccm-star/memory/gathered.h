/* A plain CCM*, for comparison: it copies the authenticated data, padded, into one buffer, which
   the CBC-MAC then encrypts in place, and the data for the counter mode into another. It
   encrypts one block and XORs one byte at a time. For frames with a nonce of 13 bytes. */
#ifndef GATHERED_H
#define GATHERED_H

#include "ccm_star.h"
#include "radio.h"

#include <stdint.h>
#include <string.h>

enum {
    GATHERED_BLOCK_BYTES = 16,
    GATHERED_NONCE_BYTES = 13,
    GATHERED_FRAME_BYTES = RADIO_PSDU_BYTES_MAX
};
/* B_0, the length of the associated data, and the padding of both parts (SP 800-38C, A.2). */
enum { GATHERED_MAC_BYTES = 16 + 2 + GATHERED_FRAME_BYTES + 15 + 15 };
/* The tag, and the padded message. */
enum { GATHERED_STREAM_BYTES = 16 + GATHERED_FRAME_BYTES + 15 };

static uint8_t gathered_pad(uint8_t *buffer, uint8_t length) {
    uint8_t padded = (uint8_t)((length + GATHERED_BLOCK_BYTES - 1) / GATHERED_BLOCK_BYTES *
                               GATHERED_BLOCK_BYTES);
    memset(buffer + length, 0, (size_t)(padded - length));
    return padded;
}

static void gathered_chain(const ccm_star_ctx *ctx, uint8_t *buffer, uint8_t length) {
    uint8_t zero[GATHERED_BLOCK_BYTES] = {0};
    const uint8_t *before = zero;
    for (uint8_t block = 0; block < length / GATHERED_BLOCK_BYTES; block++) {
        uint8_t *at = &buffer[GATHERED_BLOCK_BYTES * block];
        for (uint8_t i = 0; i < GATHERED_BLOCK_BYTES; i++)
            at[i] ^= before[i];
        block_cipher_encrypt(&ctx->cipher, at, at, 1);
        before = at;
    }
}

static void gathered_count(const ccm_star_ctx *ctx, uint8_t *buffer, uint8_t length,
                           uint8_t counter[GATHERED_BLOCK_BYTES]) {
    for (uint8_t block = 0; block < length / GATHERED_BLOCK_BYTES; block++) {
        uint8_t *at = &buffer[GATHERED_BLOCK_BYTES * block];
        uint8_t stream[GATHERED_BLOCK_BYTES];
        memcpy(stream, counter, sizeof stream);
        block_cipher_encrypt(&ctx->cipher, stream, stream, 1);
        for (uint8_t i = 0; i < GATHERED_BLOCK_BYTES; i++)
            at[i] ^= stream[i];
        counter[GATHERED_BLOCK_BYTES - 1]++;
    }
}

/* Computes the CBC-MAC of m->ad and `text`, for a tag of at least 4 bytes. */
static void gathered_mac(const ccm_star_ctx *ctx, const aead_message *m, const uint8_t *text,
                         uint8_t tag[GATHERED_BLOCK_BYTES]) {
    uint8_t buffer[GATHERED_MAC_BYTES];
    uint8_t length = GATHERED_BLOCK_BYTES;
    buffer[0] = 1; /* L - 1: the length field has two bytes */
    buffer[0] |= (uint8_t)((m->tag_length - 2) / 2 << 3);
    if (m->ad_length > 0)
        buffer[0] |= 0x40;
    memcpy(buffer + 1, m->nonce, GATHERED_NONCE_BYTES);
    buffer[14] = 0;
    buffer[15] = (uint8_t)m->length;
    if (m->ad_length > 0) {
        buffer[length++] = 0;
        buffer[length++] = (uint8_t)m->ad_length;
        memcpy(buffer + length, m->ad, m->ad_length);
        length = gathered_pad(buffer, (uint8_t)(length + m->ad_length));
    }
    memcpy(buffer + length, text, m->length);
    length = gathered_pad(buffer, (uint8_t)(length + m->length));
    gathered_chain(ctx, buffer, length);
    memcpy(tag, buffer + length - GATHERED_BLOCK_BYTES, m->tag_length);
    crypto_wipe(buffer, sizeof buffer);
}

/* Encrypts or decrypts the message, and the tag with the first counter block. */
static void gathered_stream(const ccm_star_ctx *ctx, const aead_message *m,
                            uint8_t tag[GATHERED_BLOCK_BYTES]) {
    uint8_t counter[GATHERED_BLOCK_BYTES] = {1};
    uint8_t buffer[GATHERED_STREAM_BYTES];
    memcpy(counter + 1, m->nonce, GATHERED_NONCE_BYTES);
    memcpy(buffer, tag, m->tag_length);
    gathered_pad(buffer, (uint8_t)m->tag_length);
    memcpy(buffer + GATHERED_BLOCK_BYTES, m->in, m->length);
    uint8_t length = gathered_pad(buffer, (uint8_t)(GATHERED_BLOCK_BYTES + m->length));
    gathered_count(ctx, buffer, length, counter);
    memcpy(m->out, buffer + GATHERED_BLOCK_BYTES, m->length);
    memcpy(tag, buffer, m->tag_length);
    crypto_wipe(buffer, sizeof buffer);
}

static void gathered_encrypt(const ccm_star_ctx *ctx, const aead_message *m) {
    uint8_t tag[GATHERED_BLOCK_BYTES];
    if (m->tag_length > 0)
        gathered_mac(ctx, m, m->in, tag);
    gathered_stream(ctx, m, tag);
    memcpy(m->tag, tag, m->tag_length);
    crypto_wipe(tag, sizeof tag);
}

static crypto_status gathered_decrypt(const ccm_star_ctx *ctx, const aead_message *m) {
    uint8_t received[GATHERED_BLOCK_BYTES], computed[GATHERED_BLOCK_BYTES];
    memcpy(received, m->tag, m->tag_length);
    gathered_stream(ctx, m, received);
    if (m->tag_length > 0)
        gathered_mac(ctx, m, m->out, computed);
    /* Both are MACs before encryption with the first counter block. */
    bool right = crypto_equal(received, computed, m->tag_length);
    crypto_wipe(computed, sizeof computed);
    crypto_wipe(received, sizeof received);
    if (!right)
        crypto_wipe(m->out, m->length);
    return right ? CRYPTO_OK : CRYPTO_BAD_TAG;
}

#endif
