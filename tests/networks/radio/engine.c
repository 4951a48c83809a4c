#include "engine.h"

#include <string.h>

#include "aes.h"
#include "crypto.h"

enum { BLOCK = AES_BLOCK_BYTES, ADATA = 0x40 };

void engine_aes(const uint8_t key[16], uint8_t *out, const uint8_t *in, size_t blocks) {
    aes_ctx keys;
    aes_init(&keys, key);
    aes_encrypt(&keys, out, in, blocks);
}

/* Adds bytes to the CBC-MAC, with `used` bytes of its block taken; pads the last block. */
static void authenticate(const aes_ctx *keys, uint8_t *mac, size_t used, const uint8_t *from,
                         size_t bytes) {
    if (used + bytes == 0)
        return;
    for (size_t i = 0; i < bytes; i++) {
        mac[used++] ^= from[i];
        if (used == BLOCK) {
            aes_encrypt(keys, mac, mac, 1);
            used = 0;
        }
    }
    if (used != 0)
        aes_encrypt(keys, mac, mac, 1);
}

static void crypt(const aes_ctx *keys, uint8_t *counter, uint8_t *text, size_t bytes) {
    uint8_t stream[BLOCK];
    for (size_t at = 0; at < bytes; at++) {
        if (at % BLOCK == 0) {
            counter[15]++;
            aes_encrypt(keys, stream, counter, 1);
        }
        text[at] ^= stream[at % BLOCK];
    }
}

void engine_ccm(const engine_message *m, int forward) {
    aes_ctx keys;
    aes_init(&keys, m->key);
    uint8_t mac[BLOCK] = {0}, counter[BLOCK] = {1}, first[BLOCK];
    memcpy(counter + 1, m->nonce, 13);
    aes_encrypt(&keys, first, counter, 1);
    memcpy(mac, counter, BLOCK);
    mac[0] = (uint8_t)((m->open_bytes > 0 ? ADATA : 0) | (m->tag_bytes - 2) / 2 << 3 | 1);
    mac[14] = (uint8_t)(m->bytes >> 8);
    mac[15] = (uint8_t)m->bytes;
    aes_encrypt(&keys, mac, mac, 1);
    mac[0] ^= (uint8_t)(m->open_bytes >> 8);
    mac[1] ^= (uint8_t)m->open_bytes;
    authenticate(&keys, mac, m->open_bytes > 0 ? 2 : 0, m->open, m->open_bytes);
    if (!forward)
        crypt(&keys, counter, m->text, m->bytes);
    authenticate(&keys, mac, 0, m->text, m->bytes);
    if (forward)
        crypt(&keys, counter, m->text, m->bytes);
    for (size_t i = 0; i < BLOCK; i++)
        m->tag[i] = (uint8_t)(mac[i] ^ first[i]);
}

int engine_equal(const uint8_t *a, const uint8_t *b, size_t length) {
    return crypto_equal(a, b, length);
}

void engine_wipe(void *buffer, size_t length) {
    crypto_wipe(buffer, length);
}
