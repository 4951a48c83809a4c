/* Renewal of group keys by the key manager, and recovery of one that a mote has missed.

     renewal         kind 1, manager's EUI-64 8, identifier 1, flags 1, epoch 4, KEK{ key 16 } 32
     answer          the same under the pairwise key of manager and mote          47 bytes each
     request         kind 1, identifier 1, N 16, Kas{ } 16                        34 bytes

   Each renewal is an epoch, and each epoch has a group KEK of its own: the one after the KEK before
   it. Both sides forget a KEK when its epoch is over, and nothing leads back: who takes a mote
   learns no key of a renewal before (forward secrecy). A KEK is used once, so its renewal needs no
   nonce of its own. An answer's nonce is N, so that none is taken twice; its epoch is that in which
   the key was renewed. */
#ifndef RENEWAL_H
#define RENEWAL_H

#include "messages.h"

enum {
    RENEWAL_ID_AT = 1 + 8,
    RENEWAL_FLAGS_AT,
    RENEWAL_EPOCH_AT,
    RENEWAL_BYTES = RENEWAL_OPEN_BYTES + RENEWAL_TEXT_BYTES + MESSAGE_TAG_BYTES,
    REQUEST_BYTES = REQUEST_OPEN_BYTES + MESSAGE_TAG_BYTES
};

_Static_assert(RENEWAL_BYTES == 47, "bytes on air");

#endif
