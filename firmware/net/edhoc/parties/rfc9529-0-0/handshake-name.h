#ifndef HANDSHAKE_NAME_H
#define HANDSHAKE_NAME_H

#include "edhoc_0_0.h"

#define HANDSHAKE(name) edhoc_0_0_##name
enum { SECRET_BYTES = EDHOC_0_0_SECRET_BYTES, SESSION_KEY_BYTES = EDHOC_0_0_KEY_BYTES };

#endif
