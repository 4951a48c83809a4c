#include "field/p25519-armv7em.S"
