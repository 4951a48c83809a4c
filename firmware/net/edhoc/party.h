/* Who the two sides are. A part behind the interface `party` says which handshake it is, too: it
   has a header handshake-name.h, in which HANDSHAKE(name) is a name of that handshake. */
#ifndef PARTY_H
#define PARTY_H

#include "handshake-name.h"

/* What a side knows of itself and of the other: secrets of its own alone. */
void party_of_initiator(handshake *h);
void party_of_responder(handshake *h);

#endif
