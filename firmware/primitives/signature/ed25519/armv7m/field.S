#include "field/p25519-armv7m.S"
