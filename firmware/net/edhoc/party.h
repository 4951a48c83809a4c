/* Who the two sides are. A part behind the interface `party` says which handshake it is, too: it
   has a header handshake-name.h, in which HANDSHAKE(name) is a name of that handshake. */
#ifndef PARTY_H
#define PARTY_H

#include "handshake-name.h"

/* What a side knows of itself and of the other: secrets of its own alone. */
void party_of_initiator(handshake *h);
void party_of_responder(handshake *h);

/* Arrays that are called side_ephemeral, side_key and so on, as a side's own knowledge, and as what
   the other has of it. They are only read. */
#define BYTES(array) ((handshake_bytes){(uint8_t *)(array), sizeof(array)})
#define OTHER(side)                                                                                \
    {.public_key = side##_public,                                                                  \
     .identity = BYTES(side##_identity),                                                           \
     .credential = BYTES(side##_credential)}
#define OWN(side)                                                                                  \
    {.ephemeral = side##_ephemeral,                                                                \
     .key = side##_key,                                                                            \
     .public_key = side##_public,                                                                  \
     .identity = BYTES(side##_identity),                                                           \
     .credential = BYTES(side##_credential),                                                       \
     .connection = BYTES(side##_connection)}

#endif
