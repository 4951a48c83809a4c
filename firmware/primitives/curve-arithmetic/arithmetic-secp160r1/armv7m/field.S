#include "field/secp160r1-armv7m.S"
