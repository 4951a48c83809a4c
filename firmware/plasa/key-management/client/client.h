/* A mote's side of key management; renewal.h has the messages. */
#ifndef CLIENT_H
#define CLIENT_H

#include "renewal.h"

/* The epoch of the next renewal, as the authority told it with KEY_GROUP. */
void client_start(uint32_t epoch);

/* Takes a renewal: the key is in the database, and KEY_GROUP is that of the next epoch. False: it
   is none, not genuine, of an epoch that is over, or of one too far ahead; nothing has changed. */
bool client_renewal(uint8_t *renewal, uint8_t length);

/* Asks for a key that was missed. False: there is no pairwise key with the manager. */
bool client_request(uint8_t id, uint8_t request[REQUEST_BYTES]);

/* Takes the answer to the last request. False: it is none, and the request still waits. */
bool client_answer(uint8_t *answer, uint8_t length);

#endif
