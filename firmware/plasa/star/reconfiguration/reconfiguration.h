/* A change of policy that is told to all motes: kind 1, label 1, policy 1, key 1, number 4, and a
   tag of 16 under the group's KEK. Numbers grow for ever, so that none is taken twice, whatever the
   KEK; the last bits of a number are the age of the mapping. */
#ifndef RECONFIGURATION_H
#define RECONFIGURATION_H

#include "messages.h"

enum { RECONFIGURATION_BYTES = RECONFIGURATION_OPEN_BYTES + MESSAGE_TAG_BYTES };

/* Changes the policy here, and writes what tells it. The same number again is the same message.
   False: there is no KEK, or what it names is not there. */
bool reconfiguration_write(uint8_t label, uint8_t policy, uint8_t key_id, uint32_t number,
                           uint8_t message[RECONFIGURATION_BYTES]);

/* Takes it: star_change. False: it is none, not genuine, not new, or names what is not there. */
bool reconfiguration_take(uint8_t *message, uint8_t length);

#endif
