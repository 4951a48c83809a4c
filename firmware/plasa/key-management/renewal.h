/* Renewal of group keys by the key manager, and recovery of one that a mote has missed.

     renewal         kind 1, manager's EUI-64 8, identifier 1, flags 1, epoch 4, KEK{ key 16 } 32
     answer          the same, under the pairwise key of manager and mote         47 bytes each
     request         kind 1, identifier 1, N 16, Kas{ } 16                        34 bytes

   Each renewal is an epoch, and each epoch has a group KEK of its own: the one before it, derived
   once more. Both sides forget a KEK when its epoch is over, and nothing leads back: who takes a
   mote learns no key of a renewal before (forward secrecy). An answer's tag is over N as well, so
   that none is taken twice. */
#ifndef RENEWAL_H
#define RENEWAL_H

#include "messages.h"
#include "provisioning.h"

enum {
    RENEWAL_OPEN_BYTES = 1 + PROVISIONED_EUI_BYTES + 1 + 1 + 4,
    RENEWAL_BYTES = RENEWAL_OPEN_BYTES + KEYDB_KEY_BYTES + MESSAGE_TAG_BYTES,
    REQUEST_BYTES = 1 + 1 + MESSAGE_NONCE_BYTES + MESSAGE_TAG_BYTES
};

_Static_assert(RENEWAL_BYTES == 47, "bytes on air");

/* Writes what of a renewal or an answer is in the open. */
void renewal_write(uint8_t kind, uint8_t id, uint8_t flags, uint32_t epoch,
                   uint8_t renewal[RENEWAL_BYTES]);

/* Identifier, flags and epoch of a renewal or an answer: false where it is none of this manager's.
 */
bool renewal_read(uint8_t kind, const uint8_t *renewal, uint8_t length, uint8_t *id, uint8_t *flags,
                  uint32_t *epoch);

/* The sealing of a renewal under an epoch's KEK; `nonce` is filled. */
message_sealing renewal_sealing(const uint8_t *kek, uint8_t nonce[MESSAGE_NONCE_BYTES],
                                uint8_t renewal[RENEWAL_BYTES]);

/* The KEK of the epoch after `epoch`, in place. */
void renewal_ratchet(uint8_t kek[KEYDB_KEY_BYTES], uint32_t epoch);

/* The sealings of a request, and of its answer under the request's nonce. */
message_sealing request_sealing(const uint8_t *key, uint8_t request[REQUEST_BYTES]);
message_sealing answer_sealing(const uint8_t *key, const uint8_t *nonce,
                               uint8_t answer[RENEWAL_BYTES]);

#endif
