#include "field/secp256k1-armv7m.S"
