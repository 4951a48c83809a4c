/* Bootstrapping from a pre-shared secret K: mutual authentication of a mote A and the authority S,
   and fresh keys, in three messages of 93 bytes in all.

     A to S  hello         kind 1, A 2, Na 16                                               19 bytes
     S to A  challenge     kind 1, Ns 16, Kas{ group KEK 16, its identifier 1, epoch 4 } 37 54 bytes
     A to S  confirmation  kind 1, A 2, identifier 1, Kas{ } 16                             20 bytes

   Kas, the pairwise key of A and S, is derived from K, A, S, Na and Ns; K has no other use. Each
   side proves that it knows K with a tag whose key depends on the other's fresh bytes, in a message
   of its own kind, so that neither an old message nor a reflected one is accepted. */
#ifndef HANDSHAKE_H
#define HANDSHAKE_H

#include "messages.h"

enum {
    CHALLENGE_BYTES = CHALLENGE_OPEN_BYTES + CHALLENGE_TEXT_BYTES + MESSAGE_TAG_BYTES,
    CONFIRMATION_BYTES = CONFIRMATION_OPEN_BYTES + MESSAGE_TAG_BYTES
};

_Static_assert(HELLO_BYTES + CHALLENGE_BYTES + CONFIRMATION_BYTES == 93, "bytes on air");

/* The message that a key is derived from, with room for the tag after it. Both sides have the
   same. */
typedef struct {
    uint8_t kind;
    uint8_t mote[2], authority[2];
    uint8_t mote_fresh[MESSAGE_FRESH_BYTES];
    uint8_t authority_fresh[MESSAGE_FRESH_BYTES];
    uint8_t key[KEYDB_KEY_BYTES];
} handshake;

_Static_assert(sizeof(handshake) == DERIVATION_OPEN_BYTES + MESSAGE_TAG_BYTES, "without gaps");

/* Sets the two parties. */
void handshake_begin(handshake *h, uint16_t mote, uint16_t authority);

/* Derives Kas from the secret and the other fields. */
void handshake_derive(handshake *h);

#endif
