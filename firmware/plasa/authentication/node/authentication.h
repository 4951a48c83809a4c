/* A mote's side of bootstrapping; handshake.h describes the messages. */
#ifndef AUTHENTICATION_H
#define AUTHENTICATION_H

#include "handshake.h"

/* Starts a handshake by writing a hello; an earlier one that was not answered is dropped. */
void authentication_hello(uint8_t hello[HELLO_BYTES]);

/* Takes a challenge and writes the confirmation. KEY_GROUP and KEY_MANAGER are then in the key
   database, and renewals are expected from `epoch` on. Returns false if the message is not a
   challenge or does not answer our hello, or if the database is full; the hello then stays
   pending. */
bool authentication_challenge(uint16_t from, uint8_t *challenge, uint8_t length,
                              uint8_t confirmation[CONFIRMATION_BYTES], uint32_t *epoch);

#endif
