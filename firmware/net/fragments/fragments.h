/* Messages that may be longer than a frame, over CSMA: in fragments as 6LoWPAN has them (RFC 4944,
   section 5.3). A message that fits goes as it is; its first byte is below 64, which says that it
   is no LoWPAN frame (section 5.1). Frames that are acknowledged come in order: what comes out of
   order is lost, and all of its message with it. */
#ifndef FRAGMENTS_H
#define FRAGMENTS_H

#include "csma.h"

enum { FRAGMENTS_MESSAGE_BYTES_MAX = 256 };

typedef struct {
    uint16_t from, length;
    uint8_t bytes[FRAGMENTS_MESSAGE_BYTES_MAX];
} fragments_message;

/* Sends a message of 1 to FRAGMENTS_MESSAGE_BYTES_MAX bytes; ends at the first frame that fails. */
csma_status fragments_send(uint16_t to, const uint8_t *message, uint16_t length);

/* Waits for a whole message. False: none was whole before `until`. What there is of one is kept for
   the next call. */
bool fragments_receive(radio_time until, fragments_message *message);

#endif
