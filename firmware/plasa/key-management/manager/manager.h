/* The manager's side; renewal.h describes the messages. */
#ifndef MANAGER_H
#define MANAGER_H

#include "renewal.h"

/* Generates the first KEK. */
void manager_start(void);

/* Returns the epoch of the next renewal, which a mote is sent with KEY_GROUP. */
uint32_t manager_epoch(void);

/* Generates a new key, which the manager uses from now on, and writes its renewal. Returns false if
   the identifier is not that of a data key, or if the database is full. */
bool manager_renew(uint8_t id, uint8_t renewal[RENEWAL_BYTES]);

/* Answers a request of the mote whose pairwise key is `pairwise_id`. Returns false if the message
   is not a request or not genuine, or if there is no such key. */
bool manager_request(uint8_t pairwise_id, uint8_t *request, uint8_t length,
                     uint8_t answer[RENEWAL_BYTES]);

#endif
