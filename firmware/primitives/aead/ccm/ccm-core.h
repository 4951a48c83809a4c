/* CCM in the notation of SP 800-38C, appendix A, for CCM itself and for CCM*: N is the nonce, q the
   length of the field that holds the message's length, and t the tag's length. */
#ifndef CCM_CORE_H
#define CCM_CORE_H

#include "aead.h"
#include "mode/counter.h"
#include "over.h"

enum { CCM_BLOCK_BYTES = 16 };

static size_t ccm_q(const aead_message *m) {
    return 15 - m->nonce_length;
}

/* Whether the message's length can be written in q bytes. */
static int ccm_length_fits(const aead_message *m) {
    size_t q = ccm_q(m);
    return q >= sizeof(size_t) || m->length >> (8 * q) == 0;
}

/* Big-endian, in the last `length` bytes of a block. */
static void ccm_store_number(uint8_t *block, size_t length, size_t number) {
    for (size_t i = 0; i < length; i++) {
        block[CCM_BLOCK_BYTES - 1 - i] = (uint8_t)number;
        number = number >> 4 >> 4; /* two shifts, as a 64-bit one by 8 may cost a call */
    }
}

/* Adds data to the CBC-MAC, `used` bytes of whose next block are there already, and pads the block
   with zeros. */
static void ccm_mac_data(const block_cipher_ctx *cipher, uint8_t *mac, size_t used,
                         const uint8_t *data, size_t length) {
    while (length > 0) {
        size_t room = CCM_BLOCK_BYTES - used, part = length < room ? length : room;
        crypto_xor(mac + used, mac + used, data, part);
        used += part;
        data += part;
        length -= part;
        if (used == CCM_BLOCK_BYTES) {
            block_cipher_encrypt(cipher, mac, mac, 1);
            used = 0;
        }
    }
    if (used > 0)
        block_cipher_encrypt(cipher, mac, mac, 1);
}

/* T of A.2 and 6.1, over the plaintext. */
static void ccm_mac(const block_cipher_ctx *cipher, uint8_t *mac, const aead_message *m,
                    const uint8_t *plaintext) {
    size_t q = ccm_q(m);
    ccm_store_number(mac, q, m->length);
    for (size_t i = 0; i < m->nonce_length; i++)
        mac[1 + i] = m->nonce[i];
    mac[0] = (uint8_t)((m->ad_length > 0 ? 0x40u : 0u) | (m->tag_length - 2) / 2 << 3 | (q - 1));
    block_cipher_encrypt(cipher, mac, mac, 1);

    if (m->ad_length > 0) {
        /* A.2.2: two bytes of length; fffe and four; ffff and eight. */
        size_t used = 0, length_bytes = 2;
        if (m->ad_length >= 0xff00u) {
            length_bytes = 4;
#if SIZE_MAX > 0xffffffff
            if (m->ad_length > 0xffffffffu)
                length_bytes = 8;
#endif
            mac[used++] ^= 0xff;
            mac[used++] ^= length_bytes == 4 ? 0xfe : 0xff;
        }
        for (size_t i = length_bytes; i-- > 0;)
            mac[used++] ^= i < sizeof(size_t) ? (uint8_t)(m->ad_length >> (8 * i)) : 0;
        ccm_mac_data(cipher, mac, used, m->ad, m->ad_length);
    }
    ccm_mac_data(cipher, mac, 0, plaintext, m->length);
}

/* Encrypts (or decrypts) the message, and leaves in `s0` the block that masks the tag. */
static void ccm_ctr(const block_cipher_ctx *cipher, const aead_message *m, uint8_t *s0) {
    uint8_t counter[CCM_BLOCK_BYTES];
    size_t q = ccm_q(m);
    ccm_store_number(counter, q, 0);
    counter[0] = (uint8_t)(q - 1);
    for (size_t i = 0; i < m->nonce_length; i++)
        counter[1 + i] = m->nonce[i];
    block_cipher_encrypt(cipher, s0, counter, 1);
    counter[CCM_BLOCK_BYTES - 1] = 1;
    counter_encrypt(cipher, counter, q, COUNTER_PUBLIC, m->out, m->in, m->length);
}

/* Both directions; tag gets a whole block. No tag is wanted of CCM* when it encrypts alone. */
static void ccm_process(const block_cipher_ctx *cipher, const aead_message *m, int decrypting,
                        uint8_t *tag) {
    uint8_t s0[CCM_BLOCK_BYTES];
    int authentic = m->tag_length > 0;
    if (authentic && !decrypting)
        ccm_mac(cipher, tag, m, m->in);
    ccm_ctr(cipher, m, s0);
    if (authentic && decrypting)
        ccm_mac(cipher, tag, m, m->out);
    aead_xor(tag, tag, s0, m->tag_length);
    crypto_wipe(s0, sizeof s0);
}

static void ccm_seal(const block_cipher_ctx *cipher, const aead_message *m) {
    uint8_t tag[CCM_BLOCK_BYTES];
    ccm_process(cipher, m, 0, tag);
    for (size_t i = 0; i < m->tag_length; i++)
        m->tag[i] = tag[i];
    crypto_wipe(tag, sizeof tag);
}

static crypto_status ccm_open(const block_cipher_ctx *cipher, const aead_message *m) {
    uint8_t tag[CCM_BLOCK_BYTES];
    ccm_process(cipher, m, 1, tag);
    crypto_status status = aead_check_tag(m, tag);
    crypto_wipe(tag, sizeof tag);
    return status;
}

#endif
