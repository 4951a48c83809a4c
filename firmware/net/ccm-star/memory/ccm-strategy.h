/* Frames are secured where they lie in memory, before they are loaded and after they are read.

   A strategy has these functions, of which the incoming procedure calls the last three in this
   order:
     ccm_strategy_keep   is told a key that will be used, and may keep what follows from it
     ccm_strategy_load   secures a frame and loads it into the radio
     ccm_strategy_peek   reads the first `count` bytes of what was received, or all of it where
                         CCM_STRATEGY_READS_ALL; returns the length of the whole
     ccm_strategy_take   reads the rest of a frame that is not secured
     ccm_strategy_open   reads the rest of a frame that is, decrypted; false: its MIC is wrong, and
                         nothing that was decrypted is left
   Where CCM_STRATEGY_STREAMS, they are called while the frame still arrives, and the last two see
   to it that the radio has it right as well. */
#ifndef CCM_STRATEGY_H
#define CCM_STRATEGY_H

#include "radio.h"

/* 1: ccm_strategy_ahead is there. */
#define CCM_STRATEGY_MAKES_AHEAD 0

enum { CCM_STRATEGY_READS_ALL = 1, CCM_STRATEGY_STREAMS = 0 };

void ccm_strategy_keep(const uint8_t *key);

void ccm_strategy_load(const radio_ccm *ccm, uint8_t *frame, uint8_t length);

static inline uint8_t ccm_strategy_peek(uint8_t *frame, uint8_t count, radio_reception *reception) {
    (void)count;
    return radio_read(frame, reception);
}

static inline bool ccm_strategy_take(uint8_t *frame, uint8_t length, radio_reception *reception) {
    (void)frame, (void)length, (void)reception;
    return true;
}

bool ccm_strategy_open(const radio_ccm *ccm, uint8_t *frame, uint8_t length,
                       radio_reception *reception);

#endif
