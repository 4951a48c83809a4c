/* The AES accelerator of the CC2538 and of CC26x0 chips: AES-128 of blocks, and IEEE 802.15.4's
   CCM*, whose CCM it does in one operation. */
#include <string.h>

#include "crypto.h"
#include "radio.h"
#include "ti-aes.h"

#ifndef RADIO_KEYS_STAY
#define RADIO_KEYS_STAY 0
#endif
/* 1: a plain driver, for comparison. Each block is a separate operation, CCM* has one routine per
   direction, errors are checked one by one, and the key in the engine is compared by its bytes. */
#ifndef RADIO_PLAIN
#define RADIO_PLAIN 0
#endif
#if RADIO_PLAIN
#define EACH_ITS_OWN static inline __attribute__((always_inline))
#else
#define EACH_ITS_OWN static
#endif

/* Error bits of CRYPTO_IRQSTAT. */
enum { KEY_READ_ERROR = 29, KEY_WRITE_ERROR = 30, BUS_ERROR = 31 };
enum { LENGTH_BYTES = 2, BLOCK_BYTES = 16 };
/* Far more polls than the longest frame's operation takes. */
enum { POLLS_MAX = 100000 };

static bool failed(uint8_t error) {
    if ((CRYPTO_IRQSTAT >> error & 1) == 0)
        return false;
    CRYPTO_IRQCLR = 1u << error;
    return true;
}

static bool wait(uint32_t event) {
    for (uint32_t polls = 0; polls < POLLS_MAX; polls++)
        if ((CRYPTO_IRQSTAT & event) != 0) {
            CRYPTO_IRQCLR = event;
            return true;
        }
    return false;
}

/* Returns whether the engine holds another key, or none. */
#if RADIO_PLAIN
static bool another_key(const uint8_t *stored, const uint8_t key[16]) {
    static uint8_t loaded[16];
    bool another = stored == 0 || memcmp(loaded, key, sizeof loaded) != 0;
    memcpy(loaded, key, sizeof loaded);
    return another;
}
#else
#define another_key(stored, key) (!RADIO_KEYS_STAY || (stored) != (key))
#endif

/* Selects a key in the engine, loading it if needed. The engine's store has room for eight; two are
   used. */
static void use_key(const uint8_t key[16]) {
    static const uint8_t *stored[2];
    static uint8_t area;
    CRYPTO_IRQTYPE = 1;
    CRYPTO_IRQEN = AES_TI_RESULT_AV | AES_TI_DMA_IN_DONE;
    CRYPTO_IRQCLR = AES_TI_RESULT_AV | AES_TI_DMA_IN_DONE;
    if (RADIO_KEYS_STAY && stored[!area] == key)
        area = !area;
    if (another_key(stored[area], key)) {
        area = !area;
        uint32_t aligned[4]; /* the DMA fetches the key as whole words */
        memcpy(aligned, key, sizeof aligned);
        CRYPTO_ALGSEL = AES_TI_KEY_STORE;
        CRYPTO_KEYWRITTENAREA = 1u << area;
        CRYPTO_KEYWRITEAREA = 1u << area;
        aes_ti_fetch(aligned, sizeof aligned);
        wait(AES_TI_RESULT_AV);
        CRYPTO_IRQCLR = AES_TI_RESULT_AV | AES_TI_DMA_IN_DONE;
        crypto_wipe(aligned, sizeof aligned);
        stored[area] = key;
    }
    CRYPTO_ALGSEL = AES_TI_ENGINE;
    CRYPTO_KEYREADAREA = area;
    for (uint32_t polls = 0; polls < POLLS_MAX && CRYPTO_KEYREADAREA >> 31 != 0; polls++)
        continue;
}

void radio_keep_key(const uint8_t key[16]) {
    if (RADIO_KEYS_STAY) {
        use_key(key);
        CRYPTO_ALGSEL = 0;
    }
}

void radio_aes(const uint8_t key[16], uint8_t *out, const uint8_t *in, uint8_t blocks) {
#if RADIO_PLAIN
    for (; blocks > 1; blocks--, in += BLOCK_BYTES, out += BLOCK_BYTES)
        radio_aes(key, out, in, 1);
#endif
    /* An operation on no data would never finish. */
    if (blocks == 0)
        return;
    use_key(key);
    CRYPTO_AESCTL = AES_TI_ENCRYPT;
    CRYPTO_AESDATALEN0 = (uint32_t)blocks * BLOCK_BYTES;
    CRYPTO_AESDATALEN1 = 0;
    aes_ti_fetch(in, (uint32_t)blocks * BLOCK_BYTES);
    aes_ti_store(out, (uint32_t)blocks * BLOCK_BYTES);
    wait(AES_TI_RESULT_AV);
    CRYPTO_IRQCLR = AES_TI_DMA_IN_DONE;
    CRYPTO_ALGSEL = 0;
}

/* Runs CCM on the bytes after ccm->open bytes of associated data, or with all of it as associated
   data; returns the whole tag. */
EACH_ITS_OWN bool ccm_run(const radio_ccm *ccm, uint8_t *frame, uint8_t length, bool forward,
                          uint32_t tag[4]) {
    uint8_t open = ccm->encrypt ? ccm->open : length;
    uint8_t bytes = (uint8_t)(length - open);
    union {
        uint8_t bytes[BLOCK_BYTES];
        uint32_t words[4];
    } iv = {{LENGTH_BYTES - 1}};
    memcpy(iv.bytes + 1, ccm->nonce, 13);
    use_key(ccm->key);
    CRYPTO_AESIV0 = iv.words[0];
    CRYPTO_AESIV1 = iv.words[1];
    CRYPTO_AESIV2 = iv.words[2];
    CRYPTO_AESIV3 = iv.words[3];
    uint32_t tag_bytes = ccm->mic_bytes == 0 ? 4 : ccm->mic_bytes;
    CRYPTO_AESCTL = AES_TI_SAVE_CONTEXT | (tag_bytes - 2) / 2 << AES_TI_CCM_M |
                    (LENGTH_BYTES - 1) << AES_TI_CCM_L | AES_TI_CCM | AES_TI_CTR_WIDTH_128 |
                    AES_TI_CTR | (forward ? AES_TI_ENCRYPT : 0);
    CRYPTO_AESDATALEN0 = bytes;
    CRYPTO_AESDATALEN1 = 0;
    CRYPTO_AESAUTHLEN = open;
    bool done = true;
    if (open != 0) {
        aes_ti_fetch(frame, open);
        done = wait(AES_TI_DMA_IN_DONE);
        if (RADIO_PLAIN && failed(BUS_ERROR))
            done = false;
    }
    if (done && bytes != 0) {
        aes_ti_fetch(frame + open, bytes);
        aes_ti_store(frame + open, bytes);
    }
    /* An operation on no data would never finish. */
    done = done && length != 0 && wait(AES_TI_RESULT_AV);
    if (RADIO_PLAIN && (failed(BUS_ERROR) || failed(KEY_WRITE_ERROR) || failed(KEY_READ_ERROR)))
        done = false;
    CRYPTO_IRQCLR = AES_TI_RESULT_AV | AES_TI_DMA_IN_DONE;
    for (uint32_t polls = 0; done && (CRYPTO_AESCTL & AES_TI_SAVED_CONTEXT_READY) == 0; polls++)
        done = polls < POLLS_MAX;
    tag[0] = CRYPTO_AESTAGOUT0;
    tag[1] = CRYPTO_AESTAGOUT1;
    tag[2] = CRYPTO_AESTAGOUT2;
    tag[3] = CRYPTO_AESTAGOUT3;
    CRYPTO_ALGSEL = 0;
    return done;
}

bool radio_ccm_load(const radio_ccm *ccm, uint8_t *frame, uint8_t length) {
    uint32_t tag[4];
    if (!ccm_run(ccm, frame, length, true, tag))
        return false;
    memcpy(frame + length, tag, ccm->mic_bytes);
    radio_load(frame, (uint8_t)(length + ccm->mic_bytes));
    return true;
}

/* Nothing to prepare: the engine gets everything in one operation. */
void radio_ccm_expect(const radio_ccm *ccm, uint8_t length) {
    (void)ccm, (void)length;
}

uint8_t radio_ccm_read(const radio_ccm *ccm, uint8_t *frame, radio_reception *reception) {
    uint8_t length = radio_read(frame, reception);
    if (length < ccm->open + ccm->mic_bytes || length == 0)
        return 0;
    uint8_t sealed = (uint8_t)(length - ccm->mic_bytes);
    uint32_t tag[4];
    bool right = ccm_run(ccm, frame, sealed, false, tag) &&
                 crypto_equal((const uint8_t *)tag, frame + sealed, ccm->mic_bytes);
    if (!right)
        crypto_wipe(frame, length);
    crypto_wipe(tag, sizeof tag);
    return right ? length : 0;
}
