/* Unslotted CSMA-CA of IEEE Std 802.15.4-2006 (section 7.5.1.4) and acknowledged data frames with
   short addresses in one PAN. The radio itself drops frames for others and acknowledges ours. */
#ifndef CSMA_H
#define CSMA_H

#include "frame.h"
#include "radio.h"

typedef enum {
    CSMA_OK = 0,
    CSMA_BUSY = 1,   /* the channel was busy at all five attempts */
    CSMA_NO_ACK = 2, /* sent four times without an acknowledgement */
    CSMA_REFUSED = 3 /* not sent: refused by a layer in between */
} csma_status;

/* A data frame's header: control 2, sequence 1, PAN 2, addresses 4. */
enum { CSMA_HEADER_BYTES = 9, CSMA_PAYLOAD_BYTES_MAX = RADIO_FRAME_BYTES_MAX - CSMA_HEADER_BYTES };

/* Starts the radio on a channel and receives. Returns false if there is no radio. */
bool csma_init(uint8_t channel, uint16_t pan, uint16_t address);

/* Sends a payload and waits for its acknowledgement; frames to FRAME_BROADCAST are not
   acknowledged. */
csma_status csma_send(uint16_t to, const uint8_t *payload, uint8_t length);

typedef struct {
    uint16_t from, to; /* to: this mote, or broadcast */
    uint8_t length;
    uint8_t payload[CSMA_PAYLOAD_BYTES_MAX];
} csma_message;

/* Returns a data frame that came since the last call, or waits for one; false if none came before
   `until`. The radio holds 128 bytes of frames (the CC2650: two frames), and CSMA_INBOX frames are
   kept while one is sent. A frame repeated because its acknowledgement was lost is delivered
   once. */
bool csma_receive(radio_time until, csma_message *message);

#endif
