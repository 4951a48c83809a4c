/* Frames are secured in memory, before they are loaded into the radio and after they are read.

   A strategy provides these functions. The incoming procedure calls the last three in this order:
     ccm_strategy_keep   announces a key that will be used; the strategy may keep its schedule
     ccm_strategy_load   secures a frame and loads it into the radio
     ccm_strategy_peek   reads the first `count` bytes of the received frame, or all of it where
                         CCM_STRATEGY_READS_ALL; returns the length of the whole frame
     ccm_strategy_take   reads the rest of an unsecured frame
     ccm_strategy_open   reads and decrypts the rest of a secured frame; false if its MIC is wrong,
                         and then nothing that was decrypted is left

   Where CCM_STRATEGY_STREAMS, they are called while the frame still arrives, and the last two also
   check that the radio received it correctly. */
#ifndef CCM_STRATEGY_H
#define CCM_STRATEGY_H

#include "radio.h"

/* 1: ccm_strategy_ahead exists. */
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
