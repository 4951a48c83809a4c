/* The AES accelerator of the CC2538 and of CC26x0 chips (SWRU319, chapter AES and SHA
   Cryptoprocessor; SWCU117, chapter Cryptography): AES-128 of blocks, and CCM* of IEEE 802.15.4,
   whose CCM it does in one operation. Registers are called as in CC26x0 chips. */
#include <string.h>

#include "crypto.h"
#include "radio.h"
#include "ti-aes-registers.h"

#ifndef RADIO_KEYS_STAY
#define RADIO_KEYS_STAY 0
#endif
/* 1: each block is an operation of its own and brings its key, for comparison. */
#ifndef RADIO_PLAIN
#define RADIO_PLAIN 0
#endif

/* CRYPTO_ALGSEL. */
enum { KEY_STORE = 1, ENGINE = 2 };
/* CRYPTO_IRQ*. */
enum { RESULT_AV = 1, DMA_IN_DONE = 2 };
/* CRYPTO_AESCTL. */
enum {
    SAVED_CONTEXT_READY = 1 << 30,
    SAVE_CONTEXT = 1 << 29,
    CCM_M = 22,
    CCM_L = 19,
    CCM = 1 << 18,
    CTR_WIDTH_128 = 3 << 7,
    CTR = 1 << 6,
    ENCRYPT = 1 << 2
};
enum { LENGTH_BYTES = 2, BLOCK_BYTES = 16 };
/* Polls of a longest frame's operation, many times over. */
enum { POLLS_MAX = 100000 };

static bool wait(uint32_t event) {
    for (uint32_t polls = 0; polls < POLLS_MAX; polls++)
        if ((CRYPTO_IRQSTAT & event) != 0) {
            CRYPTO_IRQCLR = event;
            return true;
        }
    return false;
}

static void fetch(const void *data, uint32_t bytes) {
    CRYPTO_DMACH0CTL = 1;
    CRYPTO_DMACH0EXTADDR = (uint32_t)(uintptr_t)data;
    CRYPTO_DMACH0LEN = bytes;
}

static void store(void *data, uint32_t bytes) {
    CRYPTO_DMACH1CTL = 1;
    CRYPTO_DMACH1EXTADDR = (uint32_t)(uintptr_t)data;
    CRYPTO_DMACH1LEN = bytes;
}

/* Puts a key into the engine, whose store has room for eight: two are kept. */
static void use_key(const uint8_t key[16]) {
    static const uint8_t *stored[2];
    static uint8_t area;
    CRYPTO_IRQTYPE = 1;
    CRYPTO_IRQEN = RESULT_AV | DMA_IN_DONE;
    CRYPTO_IRQCLR = RESULT_AV | DMA_IN_DONE;
    if (RADIO_KEYS_STAY && stored[!area] == key)
        area = !area;
    if (!RADIO_KEYS_STAY || stored[area] != key) {
        area = !area;
        uint32_t aligned[4]; /* DMA takes whole words from a store of keys */
        memcpy(aligned, key, sizeof aligned);
        CRYPTO_ALGSEL = KEY_STORE;
        CRYPTO_KEYWRITTENAREA = 1u << area;
        CRYPTO_KEYWRITEAREA = 1u << area;
        fetch(aligned, sizeof aligned);
        wait(RESULT_AV);
        CRYPTO_IRQCLR = RESULT_AV | DMA_IN_DONE;
        crypto_wipe(aligned, sizeof aligned);
        stored[area] = key;
    }
    CRYPTO_ALGSEL = ENGINE;
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
    /* An operation on nothing would never be done. */
    if (blocks == 0)
        return;
    use_key(key);
    CRYPTO_AESCTL = ENCRYPT;
    CRYPTO_AESDATALEN0 = (uint32_t)blocks * BLOCK_BYTES;
    CRYPTO_AESDATALEN1 = 0;
    fetch(in, (uint32_t)blocks * BLOCK_BYTES);
    store(out, (uint32_t)blocks * BLOCK_BYTES);
    wait(RESULT_AV);
    CRYPTO_IRQCLR = DMA_IN_DONE;
    CRYPTO_ALGSEL = 0;
}

/* CCM of `bytes` of data behind ccm->open bytes, or all of it open; the whole tag. */
static bool ccm_run(const radio_ccm *ccm, uint8_t *frame, uint8_t length, bool forward,
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
    CRYPTO_AESCTL = SAVE_CONTEXT | (tag_bytes - 2) / 2 << CCM_M | (LENGTH_BYTES - 1) << CCM_L |
                    CCM | CTR_WIDTH_128 | CTR | (forward ? ENCRYPT : 0);
    CRYPTO_AESDATALEN0 = bytes;
    CRYPTO_AESDATALEN1 = 0;
    CRYPTO_AESAUTHLEN = open;
    bool done = true;
    if (open != 0) {
        fetch(frame, open);
        done = wait(DMA_IN_DONE);
    }
    if (done && bytes != 0) {
        fetch(frame + open, bytes);
        store(frame + open, bytes);
    }
    /* Nothing at all would never be done. */
    done = done && length != 0 && wait(RESULT_AV);
    CRYPTO_IRQCLR = RESULT_AV | DMA_IN_DONE;
    for (uint32_t polls = 0; done && (CRYPTO_AESCTL & SAVED_CONTEXT_READY) == 0; polls++)
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

/* The engine takes all at once. */
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
