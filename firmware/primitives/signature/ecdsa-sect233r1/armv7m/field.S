#include "field/gf2-233-armv7m.S"
