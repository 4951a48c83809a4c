/* Frames are secured by the radio as they pass through it. memory/ccm-strategy.h documents the
   functions. */
#ifndef CCM_STRATEGY_H
#define CCM_STRATEGY_H

#include "radio.h"

#if !RADIO_HAS_CCM
#error "this radio has no CCM* of its own"
#endif

/* 1: ccm_strategy_ahead exists. */
#define CCM_STRATEGY_MAKES_AHEAD 0

/* CCM_STREAMED: the header is processed while the rest of its frame arrives. */
enum { CCM_STRATEGY_READS_ALL = 0, CCM_STRATEGY_STREAMS = CCM_STREAMED };

static inline void ccm_strategy_keep(const uint8_t *key) {
    radio_keep_key(key);
}

static inline void ccm_strategy_load(const radio_ccm *ccm, uint8_t *frame, uint8_t length) {
    radio_ccm_load(ccm, frame, length);
}

static inline uint8_t ccm_strategy_peek(uint8_t *frame, uint8_t count, radio_reception *reception) {
    (void)reception;
    if (!CCM_STREAMED)
        return radio_peek(frame, count);
    uint8_t length = radio_arriving();
    if (length > 0)
        radio_fetch(frame, 0, length < count ? length : count);
    return length;
}

/* Waits for the rest of a frame of which only the header was read. */
static inline bool ccm_strategy_arrives(void) {
    enum { FRAME_TICKS = 150 }; /* more than the longest takes */
    return !CCM_STREAMED || radio_wait_frame((radio_time)(radio_now() + FRAME_TICKS));
}

static inline bool ccm_strategy_take(uint8_t *frame, uint8_t length, radio_reception *reception) {
    return ccm_strategy_arrives() && radio_read(frame, reception) == length;
}

static inline bool ccm_strategy_open(const radio_ccm *ccm, uint8_t *frame, uint8_t length,
                                     radio_reception *reception) {
    if (length < ccm->open + ccm->mic_bytes)
        return false;
    if (CCM_STREAMED)
        radio_ccm_expect(ccm, length);
    return ccm_strategy_arrives() && radio_ccm_read(ccm, frame, reception) == length;
}

#endif
