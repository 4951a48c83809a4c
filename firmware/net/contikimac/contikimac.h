/* ContikiMAC (Dunkels, The ContikiMAC Radio Duty Cycling Protocol, SICS T2011:13): the radio is off
   but for short checks of the channel, and a sender repeats its frame until a check of the receiver
   has found it. Frames are data frames of IEEE Std 802.15.4-2006 with short addresses in one PAN;
   the radio itself drops frames for others and acknowledges ours.

   Left out: phase lock, by which a sender learns when a neighbour checks; bursts. */
#ifndef CONTIKIMAC_H
#define CONTIKIMAC_H

#include "frame.h"
#include "radio.h"

typedef enum {
    CONTIKIMAC_OK = 0,        /* acknowledged, or broadcast for a whole period */
    CONTIKIMAC_NO_ACK = 1,    /* sent for a whole period without an acknowledgement */
    CONTIKIMAC_COLLISION = 2, /* the channel was busy before a frame or after it */
    CONTIKIMAC_NO_RADIO = 3   /* the radio did not send */
} contikimac_status;

typedef enum {
    CONTIKIMAC_SILENCE = 0,
    CONTIKIMAC_ACTIVITY = 1, /* but no frame for this mote that it did not have already */
    CONTIKIMAC_MESSAGE = 2
} contikimac_found;

/* A data frame's header: control 2, sequence 1, PAN 2, addresses 4. */
enum {
    CONTIKIMAC_HEADER_BYTES = 9,
    CONTIKIMAC_PAYLOAD_BYTES_MAX = RADIO_FRAME_BYTES_MAX - CONTIKIMAC_HEADER_BYTES,
    /* A frame with less fits between the two assessments of a check, so that the check may find
       silence before and after it: 0.49 ms, and twice 0.37 ms to assess (the report's condition
       t_s > t_c + 2 t_r). */
    CONTIKIMAC_PAYLOAD_BYTES_MIN = 1220 / RADIO_BYTE_US + 1 - RADIO_SYNC_BYTES -
                                   RADIO_HEADER_BYTES - RADIO_FCS_BYTES - CONTIKIMAC_HEADER_BYTES,
    CONTIKIMAC_PERIOD_TICKS = RADIO_TICK_HZ / CONTIKIMAC_CHECKS
};

typedef struct {
    uint16_t from, to; /* to: this mote, or broadcast */
    uint8_t length;
    uint8_t payload[CONTIKIMAC_PAYLOAD_BYTES_MAX];
} contikimac_message;

/* Starts the radio on a channel and leaves it off; checks are due from now on, a period apart.
   Returns false if there is no radio. */
bool contikimac_init(uint8_t channel, uint16_t pan, uint16_t address);

/* Sends a payload again and again until it is acknowledged, for at most a period and two checks;
   frames to FRAME_BROADCAST are sent for all of this time. The radio is off before and after. */
contikimac_status contikimac_send(uint16_t to, const uint8_t *payload, uint8_t length);

/* Returns when the next check is due. */
radio_time contikimac_next_check(void);

/* Checks the channel: turns the radio on twice for a moment and, if there is a signal, until a
   frame has come or the signal turns out to be none. A frame that is sent again is given once. */
contikimac_found contikimac_check(contikimac_message *message);

#endif
