/* RFC 8439, section 2.8. */
#include "chacha20_poly1305.h"
#include "chacha20.h"
#include "poly1305.h"

enum { MAC_BLOCK_BYTES = 16, MAC_KEY_BYTES = 32 };

/* Starts the key stream: block 0 gives the one-time key (2.6), the message starts at block 1. */
static void start(const chacha20_poly1305_ctx *ctx, const aead_message *m, chacha20_ctx *stream,
                  poly1305_ctx *mac) {
    uint8_t block[CHACHA20_BLOCK_BYTES] = {0};
    chacha20_init(stream, ctx->key, m->nonce);
    chacha20_encrypt(stream, block, block, sizeof block);
    poly1305_init(mac, block, MAC_KEY_BYTES);
    crypto_wipe(block, sizeof block);
}

static void mac_padded(poly1305_ctx *mac, const uint8_t *data, size_t length) {
    static const uint8_t zeros[MAC_BLOCK_BYTES];
    poly1305_update(mac, data, length);
    poly1305_update(mac, zeros, (MAC_BLOCK_BYTES - length % MAC_BLOCK_BYTES) % MAC_BLOCK_BYTES);
}

static void mac_message(poly1305_ctx *mac, const aead_message *m, const uint8_t *ciphertext,
                        uint8_t *tag) {
    uint8_t lengths[MAC_BLOCK_BYTES];
    size_t a = m->ad_length, c = m->length;
    mac_padded(mac, m->ad, a);
    mac_padded(mac, ciphertext, c);
    for (size_t i = 0; i < 8; i++) {
        lengths[i] = (uint8_t)a;
        lengths[8 + i] = (uint8_t)c;
        a = a >> 4 >> 4;
        c = c >> 4 >> 4;
    }
    poly1305_update(mac, lengths, sizeof lengths);
    poly1305_final(mac, tag);
}

/* The block counter has 32 bits, and block 0 is used for the one-time key. */
static int lengths_allowed(const aead_message *m) {
#if SIZE_MAX > 0xffffffff
    if (m->length > (size_t)0xffffffffu * CHACHA20_BLOCK_BYTES)
        return 0;
#endif
    return m->nonce_length == CHACHA20_POLY1305_NONCE_BYTES &&
           m->tag_length == CHACHA20_POLY1305_TAG_BYTES;
}

void chacha20_poly1305_init(chacha20_poly1305_ctx *ctx, const uint8_t *key) {
    for (size_t i = 0; i < CHACHA20_POLY1305_KEY_BYTES; i++)
        ctx->key[i] = key[i];
}

crypto_status chacha20_poly1305_encrypt(const chacha20_poly1305_ctx *ctx, const aead_message *m) {
    chacha20_ctx stream;
    poly1305_ctx mac;
    if (!lengths_allowed(m))
        return CRYPTO_BAD_LENGTH;
    start(ctx, m, &stream, &mac);
    chacha20_encrypt(&stream, m->out, m->in, m->length);
    mac_message(&mac, m, m->out, m->tag);
    crypto_wipe(&stream, sizeof stream);
    return CRYPTO_OK;
}

crypto_status chacha20_poly1305_decrypt(const chacha20_poly1305_ctx *ctx, const aead_message *m) {
    chacha20_ctx stream;
    poly1305_ctx mac;
    uint8_t tag[CHACHA20_POLY1305_TAG_BYTES];
    if (!lengths_allowed(m))
        return CRYPTO_BAD_LENGTH;
    start(ctx, m, &stream, &mac);
    mac_message(&mac, m, m->in, tag);
    crypto_status status = aead_check_tag(m, tag);
    if (status == CRYPTO_OK)
        chacha20_encrypt(&stream, m->out, m->in, m->length);
    crypto_wipe(&stream, sizeof stream);
    return status;
}
