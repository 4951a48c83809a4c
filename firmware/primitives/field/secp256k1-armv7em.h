/* What secp256k1-armv7em.S computes with. */
#include "field/inversion-armv7em.h"
#include "field/secp256k1-armv7m.h"
