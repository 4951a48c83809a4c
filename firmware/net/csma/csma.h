/* Unslotted CSMA-CA of IEEE Std 802.15.4-2006 (section 7.5.1.4) and acknowledged data frames with
   short addresses in one PAN. The radio drops others' frames and acknowledges ours by itself. */
#ifndef CSMA_H
#define CSMA_H

#include "frame.h"
#include "radio.h"

typedef enum {
    CSMA_OK = 0,
    CSMA_BUSY = 1,   /* the channel was not clear five times */
    CSMA_NO_ACK = 2, /* sent four times and never acknowledged */
    CSMA_REFUSED = 3 /* not sent: a layer in between would not let it pass */
} csma_status;

/* A data frame's header: control 2, sequence 1, PAN 2, addresses 4. */
enum { CSMA_HEADER_BYTES = 9, CSMA_PAYLOAD_BYTES_MAX = FRAME_BYTES - CSMA_HEADER_BYTES };

/* Starts the radio on a channel and receives. False: there is none. */
bool csma_init(uint8_t channel, uint16_t pan, uint16_t address);

/* Sends a payload and waits for its acknowledgement; to FRAME_BROADCAST there is none. */
csma_status csma_send(uint16_t to, const uint8_t *payload, uint8_t length);

typedef struct {
    uint16_t from, to; /* to: this mote or all */
    uint8_t length;
    uint8_t payload[CSMA_PAYLOAD_BYTES_MAX];
} csma_message;

/* Waits for a data frame, or takes one that came since the last call: the radio holds 128 bytes of
   frames (the CC2650's two frames) and CSMA_INBOX are kept while a frame is sent. False: none came
   before `until`. A frame that comes twice, because its acknowledgement was lost, is handed over
   once. */
bool csma_receive(radio_time until, csma_message *message);

#endif
