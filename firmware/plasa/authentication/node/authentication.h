/* A mote's side of the bootstrapping; handshake.h has the messages. */
#ifndef AUTHENTICATION_H
#define AUTHENTICATION_H

#include "handshake.h"

/* Begins: writes a hello. One before it that was not answered is forgotten. */
void authentication_hello(uint8_t hello[HELLO_BYTES]);

/* Takes a challenge and writes the confirmation. Afterwards KEY_GROUP and KEY_MANAGER are in the
   key database, and renewals are expected from `epoch` on. False: it is none, it is not the answer
   to our hello, or the database is full; the hello still waits. */
bool authentication_challenge(uint16_t from, uint8_t *challenge, uint8_t length,
                              uint8_t confirmation[CONFIRMATION_BYTES], uint32_t *epoch);

#endif
