/* STaR: what stands between an application and the stack below it, and protects each flow of its
   traffic by a policy that can be changed while the mote runs. Neither knows of it.

   A packet gets a control field of one byte between the stack's header and the payload: label (3
   bits), policy (3), age of the mapping of label to policy (2). Label 7 is not a flow's. */
#ifndef STAR_H
#define STAR_H

#include <stdbool.h>
#include <stdint.h>

enum { STAR_LABELS = 7, STAR_NO_POLICY = 0, STAR_ANY = 0xffff, STAR_CONTROL_BYTES = 1 };

/* StarFlowClassifier: packets to or from `peer` (STAR_ANY: all) whose first byte is `first`
   (STAR_ANY: any) have this label; of several flows the first that was told. Others have label 0.
   False: there is no room, or no such label. */
bool star_flow(uint16_t peer, uint16_t first, uint8_t label);

/* The label of a packet. */
uint8_t star_label(uint16_t peer, const uint8_t *payload, uint8_t length);

/* StarConfig: from now on a label's packets come under this policy with this key, and only such
   are taken. The mapping is one older. False: no such label, or the program has no such policy. */
bool star_change(uint8_t label, uint8_t policy, uint8_t key_id);

/* The age of a label's mapping, of which the control field has two bits: for motes that learn of a
   mapping after others. */
void star_set_age(uint8_t label, uint8_t age);

/* Suspends a label's policy, or takes it up again. */
bool star_enable(uint8_t label, bool on);

/* The policy that a label's packets are under now. */
uint8_t star_policy_id(uint8_t label);

/* Makes the packet of a payload: its length; 0: it may not be sent, since it is too long, its key
   is not there, or the counter is used up. `packet` has room for `room` bytes. */
uint8_t star_secure(uint16_t to, const uint8_t *payload, uint8_t length, uint8_t *packet,
                    uint8_t room);

/* Takes the payload out of a packet, in place. False: it is not under the policy of its label, not
   genuine, or was there before; `packet` holds nothing of it then. */
bool star_unsecure(uint16_t from, uint16_t to, uint8_t *packet, uint8_t *length);

#endif
