#include "field/p25519-armv7em.h"

#include "signature/ed25519/ed25519-core.h"
