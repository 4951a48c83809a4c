/* Frames are secured by the radio, on their way through it. What each function does is said in
   memory/ccm-strategy.h. */
#ifndef CCM_STRATEGY_H
#define CCM_STRATEGY_H

#include "radio.h"

#if !RADIO_HAS_CCM
#error "this radio has no CCM* of its own"
#endif

enum { CCM_STRATEGY_READS_ALL = 0 };

static inline void ccm_strategy_load(const radio_ccm *ccm, uint8_t *frame, uint8_t length) {
    radio_ccm_load(ccm, frame, length);
}

static inline uint8_t ccm_strategy_peek(uint8_t *frame, uint8_t count, radio_reception *reception) {
    (void)reception;
    return radio_peek(frame, count);
}

static inline bool ccm_strategy_take(uint8_t *frame, uint8_t length, radio_reception *reception) {
    return radio_read(frame, reception) == length;
}

static inline bool ccm_strategy_open(const radio_ccm *ccm, uint8_t *frame, uint8_t length,
                                     radio_reception *reception) {
    return length >= ccm->open + ccm->mic_bytes && radio_ccm_read(ccm, frame, reception) == length;
}

#endif
