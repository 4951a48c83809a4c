#ifndef HANDSHAKE_NAME_H
#define HANDSHAKE_NAME_H

#include "edhoc_3_2.h"

#define HANDSHAKE(name) edhoc_3_2_##name
enum { SECRET_BYTES = EDHOC_3_2_SECRET_BYTES, SESSION_KEY_BYTES = EDHOC_3_2_KEY_BYTES };

#endif
