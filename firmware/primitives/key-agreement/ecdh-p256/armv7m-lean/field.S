#include "field/p256-armv7m-lean.S"
