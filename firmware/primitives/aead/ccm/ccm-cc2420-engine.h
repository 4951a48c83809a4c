/* CCM and CCM* by the CC2420 in one operation, in its FIFOs: a message is secured as a frame that
   is never sent, and opened as a frame that was never received (SWRS041B, sections 13.6 and
   21.4). */
#ifndef CCM_CC2420_ENGINE_H
#define CCM_CC2420_ENGINE_H

#include "aead/ccm/ccm-format.h"
#include "block-cipher/aes/cc2420-engine-use.h"
#include "over.h"

/* A frame has 127 bytes. The last two are the FCS, whose value does not matter here. */
enum { CCM_CC2420_BYTES_MAX = 125, CCM_CC2420_FCS_BYTES = 2 };

/* SECCTRL0 (SWRS041B, section 37): CCM with a tag of 2 M + 2 bytes, or CTR. */
enum { CCM_CC2420_CTR = 2, CCM_CC2420_CCM = 3, CCM_CC2420_M = 2 };

static int ccm_cc2420_takes(const aead_message *m) {
    return m->ad_length <= CCM_CC2420_BYTES_MAX && m->length <= CCM_CC2420_BYTES_MAX &&
           m->ad_length + m->length + m->tag_length <= CCM_CC2420_BYTES_MAX;
}

/* Without a tag nothing is authenticated. */
static uint8_t ccm_cc2420_ad_bytes(const aead_message *m) {
    return m->tag_length > 0 ? (uint8_t)m->ad_length : 0;
}

/* Figure 26 of SWRS041B: the nonce's first byte holds L as in a counter block, and Adata in bit 3.
   The block counter starts at 1. */
static void ccm_cc2420_set_up(const block_cipher_ctx *cipher, const aead_message *m,
                              uint16_t nonce_at) {
    uint8_t nonce[CCM_BLOCK_BYTES], ad = ccm_cc2420_ad_bytes(m);
    ccm_first_counter(nonce, m);
    nonce[0] |= ad > 0 ? 0x08 : 0;
    nonce[CCM_BLOCK_BYTES - 1] = 1;
    aes_cc2420_use(cipher);
    aes_cc2420_write_reversed(nonce_at, nonce);
    uint16_t m_code = (uint16_t)((m->tag_length - 2) / 2 << CCM_CC2420_M);
    write_register(SECCTRL0, m->tag_length > 0 ? CCM_CC2420_CCM | m_code : CCM_CC2420_CTR);
    write_register(SECCTRL1, (uint16_t)(ad << 8 | ad));
}

/* Writes the authenticated data and the message as a frame. */
static void ccm_cc2420_fill(const aead_message *m, uint8_t fifo) {
    uint8_t ad = ccm_cc2420_ad_bytes(m);
    select(fifo);
    exchange((uint8_t)(ad + m->length + m->tag_length + CCM_CC2420_FCS_BYTES));
    put(m->ad, ad);
    put(m->in, (uint8_t)m->length);
}

static crypto_status ccm_seal(const block_cipher_ctx *cipher, const aead_message *m) {
    if (!ccm_cc2420_takes(m))
        return CRYPTO_BAD_LENGTH;
    /* Nothing for the engine to do. */
    if (m->tag_length + m->length == 0)
        return CRYPTO_OK;
    ccm_cc2420_set_up(cipher, m, RAM_TXNONCE);
    strobe(SFLUSHTX);
    ccm_cc2420_fill(m, TXFIFO);
    deselect();
    int is_done = aes_cc2420_run(STXENC);
    select_ram((uint16_t)(RAM_TXFIFO + 1 + ccm_cc2420_ad_bytes(m)), RAM_READ);
    get(m->out, (uint8_t)m->length);
    get(m->tag, (uint8_t)m->tag_length);
    deselect();
    if (is_done)
        return CRYPTO_OK;
    /* What was read back may be plaintext. */
    crypto_wipe(m->out, m->length);
    crypto_wipe(m->tag, m->tag_length);
    return CRYPTO_BAD_TAG;
}

static crypto_status ccm_open(const block_cipher_ctx *cipher, const aead_message *m) {
    if (!ccm_cc2420_takes(m))
        return CRYPTO_BAD_LENGTH;
    if (m->tag_length + m->length == 0)
        return CRYPTO_OK;
    ccm_cc2420_set_up(cipher, m, RAM_RXNONCE);
    /* Section 14.3 requires two flushes. */
    strobe(SFLUSHRX);
    strobe(SFLUSHRX);
    ccm_cc2420_fill(m, RXFIFO);
    put(m->tag, (uint8_t)m->tag_length);
    exchange(0);
    exchange(0);
    deselect();
    int is_right = aes_cc2420_run(SRXDEC);
    uint8_t ad = ccm_cc2420_ad_bytes(m), verdict = 0;
    aes_cc2420_read((uint16_t)(RAM_RXFIFO + 1 + ad), m->out, (uint8_t)m->length);
    if (m->tag_length > 0) {
        /* The engine replaces the tag's last byte by its verdict: 0 or 0xff (section 21.6). */
        uint16_t last = (uint16_t)(RAM_RXFIFO + ad + m->length + m->tag_length);
        aes_cc2420_read(last, &verdict, 1);
    }
    if (is_right && verdict == 0)
        return CRYPTO_OK;
    crypto_wipe(m->out, m->length);
    return CRYPTO_BAD_TAG;
}

#endif
