/* The manager's side; renewal.h has the messages. */
#ifndef MANAGER_H
#define MANAGER_H

#include "renewal.h"

/* Draws the first KEK. */
void manager_start(void);

/* The epoch of the next renewal: what a mote is told with KEY_GROUP. */
uint32_t manager_epoch(void);

/* Draws a new key and writes the renewal that tells it; the manager has it from now on. False: the
   identifier is not that of a data key, or the database is full. */
bool manager_renew(uint8_t id, uint8_t renewal[RENEWAL_BYTES]);

/* Answers a request of the mote whose pairwise key is `pairwise_id`. False: it is none, not
   genuine, or there is no such key. */
bool manager_request(uint8_t pairwise_id, uint8_t *request, uint8_t length,
                     uint8_t answer[RENEWAL_BYTES]);

#endif
