#include "field/p25519-armv6m.S"
