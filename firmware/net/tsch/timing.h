/* The template of a slot, in ticks of the 32,768 Hz crystal. All of TSCH's timing is here.

         slot start
   sender    |-- TX_OFFSET -->| SFD, frame |-- TX_ACK_DELAY -->|          | SFD, ack |
   receiver  |      |-- GUARD | -- GUARD --|                   | SFD, ack |

   It deviates from IEEE Std 802.15.4-2015, table 8-96 (timeslot of 10 ms):
   - TX_OFFSET and TX_ACK_DELAY end with the last symbol of the SFD, which radios time-stamp, not
     with the first of the preamble, 160 us earlier. They are therefore 160 us longer than
     macTsTxOffset and macTsTxAckDelay for the same slot, as in OpenWSN.
   - There is no clear-channel assessment in a slot (macTsCca is false).
   - GUARD extends to either side of the expected SFD: macTsRxWait is twice GUARD.
   - ACK_GUARD extends to either side of the expected acknowledgement: macTsAckWait is twice that.
   - A build sets the slot's length instead of 10 ms. Beacons do not carry the template but name
     template 0 (macTimeslotTemplateId); all motes of a network must be built with the same one. */
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

/* Volatile, so that the code is the same for all templates. */
static const volatile tsch_timing timing = {TSCH_SLOT_TICKS, TSCH_TX_OFFSET_TICKS,
                                            TSCH_TX_ACK_DELAY_TICKS, TSCH_GUARD_TICKS,
                                            TSCH_ACK_GUARD_TICKS};

/* Ticks of bytes on air, rounded up. */
#define AIR_TICKS_UP(bytes) (((bytes) * (RADIO_BYTE_US * 4096ul) + 124999ul) / 125000ul)

enum {
    PREAMBLE_TICKS = AIR_TICKS_UP(RADIO_SYNC_BYTES), /* preamble and SFD */
    /* What follows the SFD; and up to 122 us until a radio reports the frame. */
    LONGEST_FRAME_TICKS = AIR_TICKS_UP(RADIO_HEADER_BYTES + RADIO_PSDU_BYTES_MAX) + 4,
    /* A byte on air in 1/1024 ticks: whole ticks and the rest. */
    BYTE_PARTS = (RADIO_BYTE_US * 33554432ull + 500000ull) / 1000000ull,
    BYTE_WHOLE = BYTE_PARTS >> 10,
    BYTE_REST = BYTE_PARTS & 1023
};
_Static_assert(UINT8_MAX *(BYTE_REST + 0ul) + 512ul <= UINT16_MAX, "air_ticks has 16 bits");

/* Time of bytes on air in ticks, to the nearest. */
static inline uint16_t air_ticks(uint8_t bytes) {
    return (uint16_t)(bytes * BYTE_WHOLE + ((bytes * (unsigned)BYTE_REST + 512u) >> 10));
}

/* For up to 2 ms either way: 1 tick is 15625 / 512 us. */
static inline int16_t ticks_to_us(int16_t ticks) {
    return (int16_t)((int32_t)ticks * 15625 / 512);
}

static inline int16_t us_to_ticks(int16_t us) {
    return (int16_t)(((int32_t)us * 2147 + 32768) >> 16);
}

#endif
