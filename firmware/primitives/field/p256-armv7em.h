/* What p256-armv7em.S computes with. */
#include "field/p256-armv7m.h"
