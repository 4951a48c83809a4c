/* What p25519-armv7em.S computes with. */
#include "field/p25519-armv7m.h"
