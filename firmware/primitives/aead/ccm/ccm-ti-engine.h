/* CCM and CCM* by the accelerator of the CC2538 and of CC26x0 chips, in one operation including the
   tag. */
#ifndef CCM_TI_ENGINE_H
#define CCM_TI_ENGINE_H

#include "aead/ccm/ccm-format.h"
#include "block-cipher/aes/ti-engine-use.h"
#include "over.h"

/* The engine encodes the length of associated data in two bytes (SP 800-38C, A.2.2). */
enum { CCM_TI_AD_BYTES_MAX = 0xfeff };

static void ccm_ti_process(const block_cipher_ctx *cipher, const aead_message *m,
                           uint32_t direction, uint32_t tag[4]) {
    /* Without a tag nothing is authenticated. */
    uint32_t ad = m->tag_length > 0 ? (uint32_t)m->ad_length : 0, bytes = (uint32_t)m->length;
    uint32_t words[2 * CCM_BLOCK_BYTES / 4];
    uint8_t *counter = (uint8_t *)words, *first = counter + CCM_BLOCK_BYTES;
    ccm_first_counter(counter, m);
    if (ad + bytes == 0) {
        /* The engine would never finish. */
        ccm_first_block(first, m);
        block_cipher_encrypt(cipher, counter, counter, 2);
        crypto_xor((uint8_t *)tag, counter, first, CCM_BLOCK_BYTES);
        crypto_wipe(words, sizeof words);
        return;
    }
    aes_ti_use(cipher);
    CRYPTO_AESIV0 = words[0];
    CRYPTO_AESIV1 = words[1];
    CRYPTO_AESIV2 = words[2];
    CRYPTO_AESIV3 = words[3];
    uint32_t tag_bytes = m->tag_length > 0 ? (uint32_t)m->tag_length : 4;
    CRYPTO_AESCTL = AES_TI_SAVE_CONTEXT | (tag_bytes - 2) / 2 << AES_TI_CCM_M |
                    (uint32_t)(ccm_q(m) - 1) << AES_TI_CCM_L | AES_TI_CCM | AES_TI_CTR_WIDTH_128 |
                    AES_TI_CTR | direction;
    CRYPTO_AESDATALEN0 = bytes;
    CRYPTO_AESDATALEN1 = 0;
    CRYPTO_AESAUTHLEN = ad;
    if (ad > 0) {
        aes_ti_fetch(m->ad, ad);
        aes_ti_wait(AES_TI_DMA_IN_DONE, 0);
    }
    if (bytes > 0) {
        aes_ti_fetch(m->in, bytes);
        aes_ti_store(m->out, bytes);
    }
    aes_ti_wait(AES_TI_RESULT_AV, AES_TI_DMA_IN_DONE);
    while ((CRYPTO_AESCTL & AES_TI_SAVED_CONTEXT_READY) == 0)
        continue;
    tag[0] = CRYPTO_AESTAGOUT0;
    tag[1] = CRYPTO_AESTAGOUT1;
    tag[2] = CRYPTO_AESTAGOUT2;
    tag[3] = CRYPTO_AESTAGOUT3;
    CRYPTO_ALGSEL = 0;
}

static int ccm_ti_takes(const aead_message *m) {
    return m->ad_length <= CCM_TI_AD_BYTES_MAX && m->length <= AES_TI_BYTES_MAX;
}

static crypto_status ccm_seal(const block_cipher_ctx *cipher, const aead_message *m) {
    if (!ccm_ti_takes(m))
        return CRYPTO_BAD_LENGTH;
    uint32_t tag[4];
    ccm_ti_process(cipher, m, AES_TI_ENCRYPT, tag);
    __builtin_memcpy(m->tag, tag, m->tag_length);
    crypto_wipe(tag, sizeof tag);
    return CRYPTO_OK;
}

static crypto_status ccm_open(const block_cipher_ctx *cipher, const aead_message *m) {
    if (!ccm_ti_takes(m))
        return CRYPTO_BAD_LENGTH;
    uint32_t tag[4];
    ccm_ti_process(cipher, m, AES_TI_DECRYPT, tag);
    crypto_status status = aead_check_tag(m, (uint8_t *)tag);
    crypto_wipe(tag, sizeof tag);
    return status;
}

#endif
