#ifndef EDHOC_0_0_H
#define EDHOC_0_0_H

#include "handshake/edhoc.h"

enum { EDHOC_0_0_SECRET_BYTES = 32, EDHOC_0_0_KEY_BYTES = 32 };

EDHOC_FUNCTIONS(edhoc_0_0);

#endif
