/* The keys and credentials of the two sides. A part behind the interface `party` also selects the
   handshake: its header handshake-name.h defines HANDSHAKE(name) as a name of that handshake. */
#ifndef PARTY_H
#define PARTY_H

#include "handshake-name.h"

/* Sets what a side knows of itself and of the other side: its own secrets only. */
void party_of_initiator(handshake *h);
void party_of_responder(handshake *h);

/* Initialisers from arrays named side_ephemeral, side_key and so on: a side's own data, and what
   the other side has of it. The arrays are only read. */
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
