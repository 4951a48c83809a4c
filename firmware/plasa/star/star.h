/* STaR: a layer between an application and the stack below it, which protects each traffic flow
   with a policy that can be changed at run time. It is transparent to both.

   A packet gets a one-byte control field between the stack's header and the payload: label (3
   bits), policy (3), age of the mapping of label to policy (2). No flow has label 7. */
#ifndef STAR_H
#define STAR_H

#include <stdbool.h>
#include <stdint.h>

enum { STAR_LABELS = 7, STAR_NO_POLICY = 0, STAR_ANY = 0xffff, STAR_CONTROL_BYTES = 1 };

/* StarFlowClassifier: gives a label to packets to or from `peer` (STAR_ANY: all) whose first byte
   is `first` (STAR_ANY: any). The first matching flow applies; packets of no flow have label 0.
   Returns false if there is no room or no such label. */
bool star_flow(uint16_t peer, uint16_t first, uint8_t label);

/* Returns the label of a packet. */
uint8_t star_label(uint16_t peer, const uint8_t *payload, uint8_t length);

/* StarConfig: from now on a label's packets use this policy with this key, and no others are
   accepted. The mapping's age grows by one. Returns false if there is no such label, or if the
   program lacks the policy. */
bool star_change(uint8_t label, uint8_t policy, uint8_t key_id);

/* Sets the age of a label's mapping, whose low two bits are in the control field: for motes that
   learn of a mapping later than others. */
void star_set_age(uint8_t label, uint8_t age);

/* Suspends a label's policy, or resumes it. */
bool star_enable(uint8_t label, bool on);

/* Returns the policy that a label's packets use now. */
uint8_t star_policy_id(uint8_t label);

/* Makes a packet of a payload. Returns its length; 0 if it may not be sent: too long, no key, or
   the counter is exhausted. `packet` has room for `room` bytes. */
uint8_t star_secure(uint16_t to, const uint8_t *payload, uint8_t length, uint8_t *packet,
                    uint8_t room);

/* Extracts the payload from a packet, in place. Returns false if the packet does not use its
   label's policy, is not genuine, or is a replay; `packet` then holds nothing of it. */
bool star_unsecure(uint16_t from, uint16_t to, uint8_t *packet, uint8_t *length);

#endif
