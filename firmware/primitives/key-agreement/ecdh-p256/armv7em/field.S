#include "field/p256-armv7em.S"
