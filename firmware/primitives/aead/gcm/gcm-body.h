/* GCM around GHASH, in the notation of SP 800-38D. An implementation defines, before it includes
   this,
     gcm_ctx with a member `cipher`, and one for the hash key H in a form of its choice;
     static void ghash_set_key(gcm_ctx *ctx, const uint8_t *h);
     static void ghash_multiply(const gcm_ctx *ctx, uint8_t *y);       y = y * H */
#include "aead.h"
#include "mode/counter.h"
#include "over.h"

enum { GCM_BLOCK_BYTES = 16 };

void gcm_init(gcm_ctx *ctx, const uint8_t *key) {
    uint8_t h[GCM_BLOCK_BYTES] = {0};
    block_cipher_init(&ctx->cipher, key);
    block_cipher_encrypt(&ctx->cipher, h, h, 1);
    ghash_set_key(ctx, h);
    crypto_wipe(h, sizeof h);
}

/* Adds data to the hash y, padded with zeros to whole blocks. */
static void ghash_data(const gcm_ctx *ctx, uint8_t *y, const uint8_t *data, size_t length) {
    while (length > 0) {
        size_t part = length < GCM_BLOCK_BYTES ? length : GCM_BLOCK_BYTES;
        crypto_xor(y, y, data, part);
        ghash_multiply(ctx, y);
        data += part;
        length -= part;
    }
}

/* Adds the block with the two lengths in bits. */
static void ghash_lengths(const gcm_ctx *ctx, uint8_t *y, size_t a, size_t c) {
    y[7] ^= (uint8_t)(a << 3);
    y[15] ^= (uint8_t)(c << 3);
    a >>= 5;
    c >>= 5;
    for (size_t i = 1; i < 8; i++) {
        y[7 - i] ^= (uint8_t)a;
        y[15 - i] ^= (uint8_t)c;
        a = a >> 4 >> 4;
        c = c >> 4 >> 4;
    }
    ghash_multiply(ctx, y);
}

/* J0 of algorithm 4, step 2. */
static void first_counter(const gcm_ctx *ctx, uint8_t *j, const aead_message *m) {
    for (size_t i = 0; i < GCM_BLOCK_BYTES; i++)
        j[i] = 0;
    if (m->nonce_length == 12) {
        crypto_xor(j, j, m->nonce, 12);
        j[15] = 1;
    } else {
        ghash_data(ctx, j, m->nonce, m->nonce_length);
        ghash_lengths(ctx, j, 0, m->nonce_length);
    }
}

/* GCTR from inc32(J0), which counts in the last four bytes (6.2). */
static void gctr(const gcm_ctx *ctx, uint8_t *counter, const aead_message *m) {
    counter_kind kind = m->nonce_length == 12 ? COUNTER_PUBLIC : COUNTER_SECRET;
    counter_add(counter, 4, 1, kind);
    counter_encrypt(&ctx->cipher, counter, 4, kind, m->out, m->in, m->length);
}

/* Computes the whole tag: S of algorithm 4, step 5, over the ciphertext, masked with E(J0). */
static void authenticate(const gcm_ctx *ctx, uint8_t *tag, const uint8_t *j0, const aead_message *m,
                         const uint8_t *ciphertext) {
    uint8_t mask[GCM_BLOCK_BYTES];
    for (size_t i = 0; i < GCM_BLOCK_BYTES; i++)
        tag[i] = 0;
    ghash_data(ctx, tag, m->ad, m->ad_length);
    ghash_data(ctx, tag, ciphertext, m->length);
    ghash_lengths(ctx, tag, m->ad_length, m->length);
    block_cipher_encrypt(&ctx->cipher, mask, j0, 1);
    crypto_xor(tag, tag, mask, GCM_BLOCK_BYTES);
    crypto_wipe(mask, sizeof mask);
}

/* SP 800-38D, 5.2.1: tags of 12 to 16 bytes, and of 4 and 8 (appendix C); nonces of any length but
   0; at most 2^36 - 32 bytes of message. */
static int lengths_allowed(const aead_message *m) {
#if SIZE_MAX > 0xffffffff
    if (m->length > 0xfffffffe0u)
        return 0;
#endif
    return m->nonce_length > 0 && (m->tag_length == 4 || m->tag_length == 8 ||
                                   (m->tag_length >= 12 && m->tag_length <= 16));
}

crypto_status gcm_encrypt(const gcm_ctx *ctx, const aead_message *m) {
    uint8_t j0[GCM_BLOCK_BYTES], counter[GCM_BLOCK_BYTES], tag[GCM_BLOCK_BYTES];
    if (!lengths_allowed(m))
        return CRYPTO_BAD_LENGTH;
    first_counter(ctx, j0, m);
    for (size_t i = 0; i < GCM_BLOCK_BYTES; i++)
        counter[i] = j0[i];
    gctr(ctx, counter, m);
    authenticate(ctx, tag, j0, m, m->out);
    for (size_t i = 0; i < m->tag_length; i++)
        m->tag[i] = tag[i];
    crypto_wipe(tag, sizeof tag);
    return CRYPTO_OK;
}

crypto_status gcm_decrypt(const gcm_ctx *ctx, const aead_message *m) {
    uint8_t j0[GCM_BLOCK_BYTES], tag[GCM_BLOCK_BYTES];
    if (!lengths_allowed(m))
        return CRYPTO_BAD_LENGTH;
    first_counter(ctx, j0, m);
    authenticate(ctx, tag, j0, m, m->in);
    crypto_status status = aead_check_tag(m, tag);
    if (status == CRYPTO_OK)
        gctr(ctx, j0, m);
    crypto_wipe(tag, sizeof tag);
    return status;
}
