#include "field/p25519-armv6m.h"

#include "signature/ed25519/ed25519-core.h"
