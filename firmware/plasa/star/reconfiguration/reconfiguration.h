/* A change of policy, broadcast to all motes: kind 1, label 1, policy 1, key 1, number 4, and a tag
   of 16 under the group's KEK. Numbers always grow, so that no message is accepted twice, whatever
   the KEK. The low bits of a number are the age of the mapping. */
#ifndef RECONFIGURATION_H
#define RECONFIGURATION_H

#include "messages.h"

enum { RECONFIGURATION_BYTES = RECONFIGURATION_OPEN_BYTES + MESSAGE_TAG_BYTES };

/* Changes the policy here, and writes the message. The same number gives the same message again.
   Returns false if there is no KEK, or if what it names does not exist. */
bool reconfiguration_write(uint8_t label, uint8_t policy, uint8_t key_id, uint32_t number,
                           uint8_t message[RECONFIGURATION_BYTES]);

/* Takes the message and calls star_change. Returns false if it is of another kind, not genuine, or
   not new, or names what does not exist. */
bool reconfiguration_take(uint8_t *message, uint8_t length);

#endif
