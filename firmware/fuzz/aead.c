/* libFuzzer target for any AEAD: decrypts arbitrary input, and valid ciphertexts with one bit
   changed. Buffers are heap blocks of the exact size, so that AddressSanitizer sees every access
   beyond them. */
#include <stdlib.h>
#include <string.h>

#include "primitive.h"

enum { MARK = 0xa5, FORGERY_BYTES = 8 /* a tag that cannot be guessed */ };

typedef struct {
    const uint8_t *bytes;
    size_t left;
} input;

static size_t take_length(input *in, size_t limit) {
    size_t length = 0;
    if (in->left > 0) {
        length = *in->bytes++ % (limit + 1);
        in->left--;
    }
    return length;
}

/* Returns a copy of the next bytes, padded with zeros; never null. */
static uint8_t *take_bytes(input *in, size_t length) {
    uint8_t *copy = calloc(length > 0 ? length : 1, 1);
    size_t there = length < in->left ? length : in->left;
    if (copy == NULL)
        abort();
    memcpy(copy, in->bytes, there);
    in->bytes += there;
    in->left -= there;
    return realloc(copy, length > 0 ? length : 1);
}

static void require(int condition) {
    if (!condition)
        abort();
}

static int all(const uint8_t *bytes, size_t length, uint8_t value) {
    for (size_t i = 0; i < length; i++)
        if (bytes[i] != value)
            return 0;
    return 1;
}

/* Checks what decryption leaves in the output, whatever its status. */
static crypto_status decrypt(const primitive_ctx *ctx, const aead_message *m) {
    memset(m->out, MARK, m->length);
    crypto_status status = primitive_decrypt(ctx, m);
    if (status == CRYPTO_BAD_LENGTH)
        require(all(m->out, m->length, MARK));
    if (status == CRYPTO_BAD_TAG)
        require(all(m->out, m->length, 0));
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input in = {data, size};
    aead_message m = {0};
    primitive_ctx ctx;
    size_t flip = take_length(&in, 255);
    m.nonce_length = take_length(&in, 1) ? take_length(&in, 40) : PRIMITIVE_NONCE_BYTES;
    m.tag_length = take_length(&in, 1) ? take_length(&in, 20) : PRIMITIVE_TAG_BYTES;
    m.ad_length = take_length(&in, 80);
    uint8_t *key = take_bytes(&in, PRIMITIVE_KEY_BYTES);
    uint8_t *nonce = take_bytes(&in, m.nonce_length);
    uint8_t *ad = take_bytes(&in, m.ad_length);
    uint8_t *tag = take_bytes(&in, m.tag_length);
    m.length = in.left;
    uint8_t *text = take_bytes(&in, m.length);
    uint8_t *first = malloc(m.length + 1), *second = malloc(m.length + 1);
    require(first != NULL && second != NULL);
    first = realloc(first, m.length > 0 ? m.length : 1);
    second = realloc(second, m.length > 0 ? m.length : 1);
    m.nonce = nonce;
    m.ad = ad;
    m.tag = tag;
    primitive_init(&ctx, key);

    m.in = text;
    m.out = first;
    crypto_status status = decrypt(&ctx, &m);
    if (m.nonce_length == PRIMITIVE_NONCE_BYTES && m.tag_length == PRIMITIVE_TAG_BYTES)
        require(status != CRYPTO_BAD_LENGTH);
    if (m.tag_length >= FORGERY_BYTES)
        require(status != CRYPTO_OK);

    if (status != CRYPTO_BAD_LENGTH) {
        require(primitive_encrypt(&ctx, &m) == CRYPTO_OK);
        m.in = first;
        m.out = second;
        require(decrypt(&ctx, &m) == CRYPTO_OK);
        require(memcmp(second, text, m.length) == 0);

        /* Flip one bit of what is authenticated. */
        size_t bytes = m.nonce_length + m.ad_length + m.length + m.tag_length;
        if (m.tag_length >= FORGERY_BYTES) {
            size_t at = flip * 31 % bytes;
            uint8_t bit = (uint8_t)(1u << flip % 8), *changed;
            if (at < m.nonce_length)
                changed = nonce + at;
            else if ((at -= m.nonce_length) < m.ad_length)
                changed = ad + at;
            else if ((at -= m.ad_length) < m.length)
                changed = first + at;
            else
                changed = tag + (at - m.length);
            *changed ^= bit;
            require(decrypt(&ctx, &m) == CRYPTO_BAD_TAG);
            *changed ^= bit;
        }

        /* In place. */
        m.in = m.out = first;
        require(primitive_decrypt(&ctx, &m) == CRYPTO_OK);
        require(memcmp(first, text, m.length) == 0);
    }

    free(key);
    free(nonce);
    free(ad);
    free(tag);
    free(text);
    free(first);
    free(second);
    return 0;
}
