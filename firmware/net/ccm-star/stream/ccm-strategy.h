/* Frames are unsecured while they arrive, and key streams are computed in advance.
   memory/ccm-strategy.h documents the functions.

   ccm_strategy_peek returns as soon as the header has arrived, before the frame is complete;
   ccm_strategy_open finally waits for the radio's check of the whole frame and verifies the MIC. */
#ifndef CCM_STRATEGY_H
#define CCM_STRATEGY_H

#include "radio.h"

/* 1: ccm_strategy_ahead exists. */
#define CCM_STRATEGY_MAKES_AHEAD 1

enum { CCM_STRATEGY_READS_ALL = 0, CCM_STRATEGY_STREAMS = 1, CCM_STRATEGY_AHEAD_BLOCKS = 8 };

void ccm_strategy_keep(const uint8_t *key);

/* Computes in advance, for a frame to come, up to CCM_STRATEGY_AHEAD_BLOCKS first blocks of its key
   stream; and, if its length without MIC is known (not 0), the first block of its CBC-MAC. The
   result is kept in one of two places and used once, as no two frames share a nonce. */
void ccm_strategy_ahead(uint8_t place, const radio_ccm *ccm, uint8_t blocks, uint8_t length);

void ccm_strategy_load(const radio_ccm *ccm, uint8_t *frame, uint8_t length);
uint8_t ccm_strategy_peek(uint8_t *frame, uint8_t count, radio_reception *reception);
bool ccm_strategy_take(uint8_t *frame, uint8_t length, radio_reception *reception);
bool ccm_strategy_open(const radio_ccm *ccm, uint8_t *frame, uint8_t length,
                       radio_reception *reception);

#endif
