/* The template of a slot, in ticks of the 32,768 Hz crystal. All of TSCH's timing is here.

         slot start
   sender    |-- TX_OFFSET -->| SFD, frame |-- TX_ACK_DELAY -->|          | SFD, ack |
   receiver  |      |-- GUARD | -- GUARD --|                   | SFD, ack |

   It deviates from IEEE Std 802.15.4-2015, table 8-96 (timeslot of 10 ms), in this:
   - TX_OFFSET and TX_ACK_DELAY end with the last symbol of the SFD, which radios time-stamp, and
     not with the first of the preamble, 160 us earlier: so they are 160 us longer than
   macTsTxOffset and macTsTxAckDelay for the same slot. OpenWSN counts as we do.
   - There is no clear-channel assessment in a slot (macTsCca is false).
   - GUARD is to either side of the expected SFD: macTsRxWait is twice GUARD.
   - The acknowledgement is waited for ACK_GUARD to either side: macTsAckWait is twice that.
   - Slots are as long as a build says, not 10 ms; the template is not told in beacons, which name
     template 0 (macTimeslotTemplateId), and all motes of a network are built alike. */
#ifndef TIMING_H
#define TIMING_H

#include "radio.h"

typedef struct {
    uint16_t slot;
    uint16_t tx_offset;
    uint16_t tx_ack_delay;
    uint16_t guard;
    uint16_t ack_guard;
} tsch_timing;

/* Read where it lies, so that code is the same for all templates. */
static const volatile tsch_timing timing = {TSCH_SLOT_TICKS, TSCH_TX_OFFSET_TICKS,
                                            TSCH_TX_ACK_DELAY_TICKS, TSCH_GUARD_TICKS,
                                            TSCH_ACK_GUARD_TICKS};

enum {
    PREAMBLE_TICKS = 6, /* preamble and SFD: 160 us, rounded up */
    /* Length and 127 bytes after the SFD: 4096 us; and 122 us until a radio has said that a frame
       is there. */
    LONGEST_FRAME_TICKS = 135 + 4
};

/* Bytes on air in ticks, to the nearest: 32 us are 1.048576 ticks. */
static inline uint16_t air_ticks(uint8_t bytes) {
    return (uint16_t)(bytes + ((bytes * 50u + 512u) >> 10));
}

/* Up to 2 ms either way: 1 tick is 15625 / 512 us. */
static inline int16_t ticks_to_us(int16_t ticks) {
    return (int16_t)((int32_t)ticks * 15625 / 512);
}

static inline int16_t us_to_ticks(int16_t us) {
    return (int16_t)(((int32_t)us * 2147 + 32768) >> 16);
}

#endif
