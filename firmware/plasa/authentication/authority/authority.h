/* The authority's side of bootstrapping; handshake.h describes the messages. */
#ifndef AUTHORITY_H
#define AUTHORITY_H

#include "handshake.h"

/* Returns the identifier of a mote's pairwise key in the authority's key database; 0 if the mote
   was never admitted. */
uint8_t authority_key_id(uint16_t mote);

/* Answers a hello with a challenge that carries KEY_GROUP and the epoch of the next renewal.
   Several handshakes may be in progress; a new hello replaces the oldest. Returns false if the
   message is not a hello, or if there is no room for another mote. */
bool authority_hello(uint16_t self, uint16_t from, const uint8_t *hello, uint8_t length,
                     uint32_t epoch, uint8_t challenge[CHALLENGE_BYTES]);

/* Takes a confirmation, which admits the mote and puts its pairwise key into the database. Returns
   false if it does not belong to a handshake in progress. */
bool authority_confirmation(uint16_t from, uint8_t *confirmation, uint8_t length);

#endif
