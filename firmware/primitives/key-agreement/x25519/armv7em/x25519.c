#include "field/p25519-armv7em.h"

#include "key-agreement/x25519/x25519-ladder.h"
