#include "ccm-strategy.h"

#include "ccm_star.h"

/* A key is expanded for each frame, or once as long as the same follows the same. */
static const ccm_star_ctx *schedule(const uint8_t *key, ccm_star_ctx *local) {
#if CCM_KEEPS_SCHEDULE
    static ccm_star_ctx kept;
    static const uint8_t *kept_key;
    (void)local;
    if (kept_key != key) {
        ccm_star_init(&kept, key);
        kept_key = key;
    }
    return &kept;
#else
    ccm_star_init(local, key);
    return local;
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
