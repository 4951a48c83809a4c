#include "field/p256-armv7m.S"
