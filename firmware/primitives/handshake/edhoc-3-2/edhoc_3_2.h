#ifndef EDHOC_3_2_H
#define EDHOC_3_2_H

#include "handshake/edhoc.h"

enum { EDHOC_3_2_SECRET_BYTES = 32, EDHOC_3_2_KEY_BYTES = 32 };

EDHOC_FUNCTIONS(edhoc_3_2);

#endif
