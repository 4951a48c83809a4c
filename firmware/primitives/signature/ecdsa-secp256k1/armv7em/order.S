#include "field/montgomery-armv7em.S"
