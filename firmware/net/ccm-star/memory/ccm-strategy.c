#include "ccm-strategy.h"

#include "ccm_star.h"

/* 1: a plain CCM*, for comparison. */
#ifndef RADIO_PLAIN
#define RADIO_PLAIN 0
#endif
#if RADIO_PLAIN
#include "gathered.h"
#define ccm_star_encrypt gathered_encrypt
#define ccm_star_decrypt gathered_decrypt
#endif

/* Expands a key for each frame or, where the schedules of the last two keys are kept, when the key
   is first seen. */
static const ccm_star_ctx *schedule(const uint8_t *key, ccm_star_ctx *local) {
#if CCM_KEEPS_SCHEDULE
    enum { KEYS = 2 };
    static struct {
        const uint8_t *key;
        ccm_star_ctx ctx;
    } kept[KEYS];
    static uint8_t next;
    (void)local;
    for (uint8_t i = 0; i < KEYS; i++)
        if (kept[i].key == key)
            return &kept[i].ctx;
    uint8_t place = next;
    next = (uint8_t)((next + 1) % KEYS);
    kept[place].key = key;
    ccm_star_init(&kept[place].ctx, key);
    return &kept[place].ctx;
#else
    ccm_star_init(local, key);
    return local;
#endif
}

void ccm_strategy_keep(const uint8_t *key) {
#if CCM_KEEPS_SCHEDULE
    schedule(key, 0);
#else
    (void)key;
#endif
}

static aead_message message(const radio_ccm *ccm, uint8_t *frame, uint8_t length) {
    uint8_t open = ccm->encrypt ? ccm->open : length;
    return (aead_message){.nonce = ccm->nonce,
                          .nonce_length = CCM_STAR_NONCE_BYTES,
                          .ad = frame,
                          .ad_length = open,
                          .in = frame + open,
                          .out = frame + open,
                          .length = (uint8_t)(length - open),
                          .tag = frame + length,
                          .tag_length = ccm->mic_bytes};
}

void ccm_strategy_load(const radio_ccm *ccm, uint8_t *frame, uint8_t length) {
    ccm_star_ctx local;
    aead_message m = message(ccm, frame, length);
    const ccm_star_ctx *keys = schedule(ccm->key, &local);
    ccm_star_encrypt(keys, &m);
    crypto_wipe(&local, sizeof local);
    radio_load(frame, (uint8_t)(length + ccm->mic_bytes));
}

bool ccm_strategy_open(const radio_ccm *ccm, uint8_t *frame, uint8_t length,
                       radio_reception *reception) {
    (void)reception;
    if (length < ccm->open + ccm->mic_bytes)
        return false;
    ccm_star_ctx local;
    aead_message m = message(ccm, frame, (uint8_t)(length - ccm->mic_bytes));
    const ccm_star_ctx *keys = schedule(ccm->key, &local);
    crypto_status status = ccm_star_decrypt(keys, &m);
    crypto_wipe(&local, sizeof local);
    return status == CRYPTO_OK;
}
