/* Renewal of group keys by the key manager, and recovery of a key that a mote has missed.

     renewal         kind 1, manager's EUI-64 8, identifier 1, flags 1, epoch 4, KEK{ key 16 } 32
     answer          the same under the pairwise key of manager and mote          47 bytes each
     request         kind 1, identifier 1, N 16, Kas{ } 16                        34 bytes

   Each renewal begins an epoch, and each epoch has its own group KEK, derived one-way from the one
   before. Both sides erase a KEK at the end of its epoch, so that whoever captures a mote learns no
   key of an earlier renewal (forward secrecy). A KEK is used only once, so a renewal needs no fresh
   nonce. An answer's nonce is N, so that no answer is accepted twice; its epoch is the one in which
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
