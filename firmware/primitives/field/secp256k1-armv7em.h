/* Functions of secp256k1-armv7em.S. */
#include "field/inversion-armv7em.h"
#include "field/secp256k1-armv7m.h"
