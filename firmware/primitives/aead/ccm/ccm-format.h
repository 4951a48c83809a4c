/* The formatting of SP 800-38C, appendix A, in its notation, shared by CCM and CCM*: N is the
   nonce, q the length of the message length field, and t the tag's length. */
#ifndef CCM_FORMAT_H
#define CCM_FORMAT_H

#include "aead.h"

enum { CCM_BLOCK_BYTES = 16 };

static size_t ccm_q(const aead_message *m) {
    return 15 - m->nonce_length;
}

/* Returns whether the message's length fits q bytes. */
static int ccm_length_fits(const aead_message *m) {
    size_t q = ccm_q(m);
    return q >= sizeof(size_t) || m->length >> (8 * q) == 0;
}

/* Big-endian, in the last `length` bytes of a block. */
static void ccm_store_number(uint8_t *block, size_t length, size_t number) {
    for (size_t i = 0; i < length; i++) {
        block[CCM_BLOCK_BYTES - 1 - i] = (uint8_t)number;
        number = number >> 4 >> 4; /* two shifts, because a 64-bit shift by 8 may cost a call */
    }
}

/* B_0 of A.2.1, for implementations that compute the CBC-MAC themselves. */
__attribute__((unused)) static void ccm_first_block(uint8_t *block, const aead_message *m) {
    size_t q = ccm_q(m);
    ccm_store_number(block, q, m->length);
    for (size_t i = 0; i < m->nonce_length; i++)
        block[1 + i] = m->nonce[i];
    block[0] = (uint8_t)((m->ad_length > 0 ? 0x40u : 0u) | (m->tag_length - 2) / 2 << 3 | (q - 1));
}

/* Ctr_0 of A.3. */
static void ccm_first_counter(uint8_t *counter, const aead_message *m) {
    size_t q = ccm_q(m);
    ccm_store_number(counter, q, 0);
    for (size_t i = 0; i < m->nonce_length; i++)
        counter[1 + i] = m->nonce[i];
    counter[0] = (uint8_t)(q - 1);
}

#endif
