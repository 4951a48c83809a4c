/* A mote asks for a key that it has missed; renewal.h has the messages. */
#ifndef RECOVERY_H
#define RECOVERY_H

#include "renewal.h"

/* The epoch in which the mote was admitted. It takes no key of one before: under such a key there
   may be packets from before it booted, which it would not know again. */
void recovery_start(uint32_t epoch);

/* Asks for a key. False: there is no pairwise key with the manager. */
bool recovery_request(uint8_t id, uint8_t request[REQUEST_BYTES]);

/* Takes the answer to the last request. False: it is none, and the request still waits. */
bool recovery_answer(uint8_t *answer, uint8_t length);

#endif
