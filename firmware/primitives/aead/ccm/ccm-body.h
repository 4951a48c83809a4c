/* CCM over a block cipher (SP 800-38C, section 6), shared by CCM and CCM*. */
#ifndef CCM_CORE_H
#define CCM_CORE_H

#include "aead/ccm/ccm-format.h"
#include "mode/counter.h"
#include "over.h"

/* Adds data to the CBC-MAC, whose next block already has `used` bytes, and pads the last block with
   zeros. */
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

static void ccm_mac_ad(const block_cipher_ctx *cipher, uint8_t *mac, const aead_message *m) {
    if (m->ad_length == 0)
        return;
    /* A.2.2: a length of two bytes; of four after fffe; of eight after ffff. */
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

/* Encrypts or decrypts; tag gets as many bytes as requested. CCM* without authentication requests
   no tag. A block of the CBC-MAC and the next one of the stream, or after the message's last one
   the tag's, go through the cipher together, because some ciphers process several blocks at once.
 */
static void ccm_process(const block_cipher_ctx *cipher, const aead_message *m, int decrypting,
                        uint8_t *tag) {
    uint8_t first[CCM_BLOCK_BYTES], counter[CCM_BLOCK_BYTES], blocks[2 * CCM_BLOCK_BYTES];
    uint8_t *mac = blocks, *stream = mac + CCM_BLOCK_BYTES;
    const uint8_t *in = m->in;
    uint8_t *out = m->out;
    size_t q = ccm_q(m), left = m->length, authentic = m->tag_length > 0;
    ccm_first_counter(first, m);
    __builtin_memcpy(counter, first, CCM_BLOCK_BYTES);
    if (left > 0)
        counter_add(counter, q, 1, COUNTER_PUBLIC);
    __builtin_memcpy(stream, counter, CCM_BLOCK_BYTES);
    if (authentic) {
        ccm_first_block(mac, m);
        block_cipher_encrypt(cipher, blocks, blocks, 2);
        ccm_mac_ad(cipher, mac, m);
    } else {
        block_cipher_encrypt(cipher, stream, stream, 1);
    }
    while (left > 0) {
        size_t part = left < CCM_BLOCK_BYTES ? left : CCM_BLOCK_BYTES;
        if (!decrypting)
            crypto_xor(mac, mac, in, part);
        crypto_xor(out, in, stream, part);
        if (decrypting)
            crypto_xor(mac, mac, out, part);
        in += part;
        out += part;
        left -= part;
        if (left > 0) {
            counter_add(counter, q, 1, COUNTER_PUBLIC);
            __builtin_memcpy(stream, counter, CCM_BLOCK_BYTES);
        } else {
            __builtin_memcpy(stream, first, CCM_BLOCK_BYTES);
        }
        if (authentic)
            block_cipher_encrypt(cipher, blocks, blocks, 2);
        else if (left > 0)
            block_cipher_encrypt(cipher, stream, stream, 1);
    }
    crypto_xor(tag, mac, stream, m->tag_length);
    crypto_wipe(blocks, sizeof blocks);
}

static crypto_status ccm_seal(const block_cipher_ctx *cipher, const aead_message *m) {
    uint8_t tag[CCM_BLOCK_BYTES];
    ccm_process(cipher, m, 0, tag);
    for (size_t i = 0; i < m->tag_length; i++)
        m->tag[i] = tag[i];
    crypto_wipe(tag, sizeof tag);
    return CRYPTO_OK;
}

static crypto_status ccm_open(const block_cipher_ctx *cipher, const aead_message *m) {
    uint8_t tag[CCM_BLOCK_BYTES];
    ccm_process(cipher, m, 1, tag);
    crypto_status status = aead_check_tag(m, tag);
    crypto_wipe(tag, sizeof tag);
    return status;
}

#endif
