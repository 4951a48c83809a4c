#include "field/secp256k1-armv7em.S"
