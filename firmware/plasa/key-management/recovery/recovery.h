/* Lets a mote request a key that it has missed; renewal.h describes the messages. */
#ifndef RECOVERY_H
#define RECOVERY_H

#include "renewal.h"

/* Sets the epoch in which the mote was admitted. It accepts no key of an earlier epoch: under such
   a key there may be packets from before it booted, which it could not recognise as replays. */
void recovery_start(uint32_t epoch);

/* Writes a request for a key. Returns false if there is no pairwise key with the manager. */
bool recovery_request(uint8_t id, uint8_t request[REQUEST_BYTES]);

/* Takes the answer to the last request. Returns false if it is not that, and the request stays
   pending. */
bool recovery_answer(uint8_t *answer, uint8_t length);

#endif
