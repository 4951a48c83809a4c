#ifndef HANDSHAKE_NAME_H
#define HANDSHAKE_NAME_H

#include "edhoc_kem.h"

#define HANDSHAKE(name) edhoc_kem_##name
enum { SESSION_KEY_BYTES = EDHOC_KEM_KEY_BYTES };

#endif
