/* Frames are unsecured while they arrive, and key streams are made before they are needed. What
   each function does is said in memory/ccm-strategy.h.

   A frame can be seen here before it is whole: ccm_strategy_peek returns as soon as its header has
   arrived, and ccm_strategy_open ends with the radio's word on the whole frame and with the MIC. */
#ifndef CCM_STRATEGY_H
#define CCM_STRATEGY_H

#include "radio.h"

/* 1: ccm_strategy_ahead is there. */
#define CCM_STRATEGY_MAKES_AHEAD 1

enum { CCM_STRATEGY_READS_ALL = 0, CCM_STRATEGY_STREAMS = 1, CCM_STRATEGY_AHEAD_BLOCKS = 8 };

void ccm_strategy_keep(const uint8_t *key);

/* Makes the first blocks of the key stream of a frame that is to come, at most
   CCM_STRATEGY_AHEAD_BLOCKS, in one of two places; and the first block of its CBC-MAC, where its
   length without MIC is known, and not 0. It is used once: no two frames have a nonce together. */
void ccm_strategy_ahead(uint8_t place, const radio_ccm *ccm, uint8_t blocks, uint8_t length);

void ccm_strategy_load(const radio_ccm *ccm, uint8_t *frame, uint8_t length);
uint8_t ccm_strategy_peek(uint8_t *frame, uint8_t count, radio_reception *reception);
bool ccm_strategy_take(uint8_t *frame, uint8_t length, radio_reception *reception);
bool ccm_strategy_open(const radio_ccm *ccm, uint8_t *frame, uint8_t length,
                       radio_reception *reception);

#endif
