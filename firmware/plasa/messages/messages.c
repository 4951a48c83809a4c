#include "messages.h"

#include <string.h>

#include "cipher.h"
#include "crypto.h"

enum { BLOCK_BYTES = 16 };

static const struct {
    uint8_t open, text;
} shapes[] = {
    {CHALLENGE_OPEN_BYTES, CHALLENGE_TEXT_BYTES},
    {CONFIRMATION_OPEN_BYTES, 0},
    {RENEWAL_OPEN_BYTES, RENEWAL_TEXT_BYTES},
    {REQUEST_OPEN_BYTES, 0},
    {RENEWAL_OPEN_BYTES, RENEWAL_TEXT_BYTES},
    {RECONFIGURATION_OPEN_BYTES, 0},
    {DERIVATION_OPEN_BYTES, 0},
};

static uint8_t open_of(const uint8_t *message) {
    return shapes[*message - MESSAGE_CHALLENGE].open;
}

static uint8_t text_of(const uint8_t *message) {
    return shapes[*message - MESSAGE_CHALLENGE].text;
}

bool message_is(uint8_t kind, const uint8_t *message, uint8_t length) {
    return length != 0 && *message == kind &&
           length == open_of(message) + text_of(message) + MESSAGE_TAG_BYTES;
}

/* State of a CBC-MAC, with the position of the next byte. */
typedef struct {
    const uint8_t *key;
    uint8_t x[BLOCK_BYTES];
    uint8_t at;
} mac;

static void absorb(mac *m, const uint8_t *bytes, uint8_t count) {
    for (; count > 0; count--) {
        m->x[m->at++] ^= *bytes++;
        if (m->at == BLOCK_BYTES) {
            cipher_block(m->key, m->x, m->x);
            m->at = 0;
        }
    }
}

/* Pads the block with zeros. */
static void fill(mac *m) {
    if (m->at != 0)
        cipher_block(m->key, m->x, m->x);
    m->at = 0;
}

/* RFC 3610, sections 2.2 and 2.3: B_0 and A_i. */
static void make_block(uint8_t block[BLOCK_BYTES], uint8_t flags, const uint8_t *message,
                       const uint8_t *nonce, uint8_t last) {
    block[0] = flags;
    memcpy(block + 1, nonce, MESSAGE_NONCE_BYTES);
    block[1 + MESSAGE_NONCE_BYTES] = *message;
    block[BLOCK_BYTES - 2] = 0;
    block[BLOCK_BYTES - 1] = last;
}

/* Adata, tags of 16 bytes, lengths of 2. */
enum { FLAGS_B = 0x79, FLAGS_A = 0x01 };

/* Computes the tag of a message whose text is not encrypted. `tag` may be the key. */
static void make_tag(const uint8_t *message, const uint8_t *nonce, const uint8_t *key,
                     uint8_t tag[MESSAGE_TAG_BYTES]) {
    uint8_t block[BLOCK_BYTES];
    const uint8_t open[2] = {0, open_of(message)};
    mac m = {.key = key};
    make_block(block, FLAGS_B, message, nonce, text_of(message));
    absorb(&m, block, BLOCK_BYTES);
    absorb(&m, open, sizeof open);
    absorb(&m, message, open[1]);
    fill(&m);
    absorb(&m, message + open[1], text_of(message));
    fill(&m);
    make_block(block, FLAGS_A, message, nonce, 0);
    cipher_block(key, block, block);
    for (uint8_t i = 0; i < MESSAGE_TAG_BYTES; i++)
        tag[i] = m.x[i] ^ block[i];
}

/* Encrypts or decrypts the text. Returns its end. */
static uint8_t *crypt(uint8_t *message, const uint8_t *nonce, const uint8_t *key) {
    uint8_t stream[BLOCK_BYTES], *text = message + open_of(message);
    for (uint8_t i = 0; i < text_of(message); i++) {
        if (i % BLOCK_BYTES == 0) {
            make_block(stream, FLAGS_A, message, nonce, (uint8_t)(i / BLOCK_BYTES + 1));
            cipher_block(key, stream, stream);
        }
        *text++ ^= stream[i % BLOCK_BYTES];
    }
    crypto_wipe(stream, sizeof stream);
    return text;
}

void message_seal(uint8_t *message, const uint8_t *nonce, const uint8_t *key) {
    uint8_t tag[MESSAGE_TAG_BYTES];
    make_tag(message, nonce, key, tag);
    memcpy(crypt(message, nonce, key), tag, sizeof tag);
}

bool message_unseal(uint8_t *message, const uint8_t *nonce, const uint8_t *key) {
    uint8_t tag[MESSAGE_TAG_BYTES], *end = crypt(message, nonce, key);
    make_tag(message, nonce, key, tag);
    bool is_right = crypto_equal(tag, end, sizeof tag);
    crypto_wipe(tag, sizeof tag);
    if (!is_right)
        crypto_wipe(end - text_of(message), text_of(message));
    return is_right;
}

void message_ratchet(uint8_t key[KEYDB_KEY_BYTES]) {
    static const uint8_t zeros[BLOCK_BYTES];
    cipher_block(key, key, zeros);
}

uint8_t *message_put32(uint8_t *at, uint32_t number) {
    for (uint8_t i = 0; i < 4; i++, number >>= 8)
        *at++ = (uint8_t)number;
    return at;
}

uint32_t message_get32(const uint8_t *at) {
    uint32_t number = 0;
    for (uint8_t i = 4; i-- > 0;)
        number = number << 8 | at[i];
    return number;
}
