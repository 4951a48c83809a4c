/* A mote's side of renewal; renewal.h has the messages. */
#ifndef CLIENT_H
#define CLIENT_H

#include "renewal.h"

/* The epoch of the next renewal, as the authority told it with KEY_GROUP. */
void client_start(uint32_t epoch);

/* Takes a renewal: the key is in the database, and KEY_GROUP is that of the next epoch. False: it
   is none, not genuine, of an epoch that is over, or of one too far ahead; nothing has changed. */
bool client_renewal(uint8_t *renewal, uint8_t length);

#endif
