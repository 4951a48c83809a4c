/* The authority's side of the bootstrapping; handshake.h has the messages. */
#ifndef AUTHORITY_H
#define AUTHORITY_H

#include "handshake.h"

/* Where the key database of the authority has the pairwise key of a mote; 0: it was never
   admitted. */
uint8_t authority_key_id(uint16_t mote);

/* Answers a hello with a challenge that tells KEY_GROUP and the epoch of the next renewal. Several
   handshakes may be under way; another hello takes the oldest one's place. False: it is none, or
   there is no room for another mote. */
bool authority_hello(uint16_t self, uint16_t from, const uint8_t *hello, uint8_t length,
                     uint32_t epoch, uint8_t challenge[CHALLENGE_BYTES]);

/* Takes a confirmation: afterwards the mote is admitted, with its pairwise key in the database.
   False: it is not that of the handshake under way. */
bool authority_confirmation(uint16_t from, uint8_t *confirmation, uint8_t length);

#endif
