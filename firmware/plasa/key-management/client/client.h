/* A mote's side of renewal; renewal.h describes the messages. */
#ifndef CLIENT_H
#define CLIENT_H

#include "renewal.h"

/* Sets the epoch of the next renewal, which the authority sent with KEY_GROUP. */
void client_start(uint32_t epoch);

/* Takes a renewal: puts the key into the database and advances KEY_GROUP to the next epoch. Returns
   false, and changes nothing, if the message is not a renewal, not genuine, of a past epoch, or of
   one too far ahead. */
bool client_renewal(uint8_t *renewal, uint8_t length);

#endif
