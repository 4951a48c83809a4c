/* Messages that may be longer than a frame, over CSMA, in fragments as in 6LoWPAN (RFC 4944,
   section 5.3). A message that fits a frame is sent as it is; its first byte is below 64, which
   marks it as not a LoWPAN frame (section 5.1). Acknowledged frames come in order; a fragment out
   of order is dropped, and its whole message with it. */
#ifndef FRAGMENTS_H
#define FRAGMENTS_H

#include "csma.h"

enum { FRAGMENTS_MESSAGE_BYTES_MAX = 256 };

typedef struct {
    uint16_t from, length;
    uint8_t bytes[FRAGMENTS_MESSAGE_BYTES_MAX];
} fragments_message;

/* Sends a message of 1 to FRAGMENTS_MESSAGE_BYTES_MAX bytes; stops at the first frame that
   fails. */
csma_status fragments_send(uint16_t to, const uint8_t *message, uint16_t length);

/* Waits for a whole message. Returns false if none was complete before `until`; a partial message
   is kept for the next call. */
bool fragments_receive(radio_time until, fragments_message *message);

#endif
