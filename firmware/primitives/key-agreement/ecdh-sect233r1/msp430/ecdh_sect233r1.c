#include "ecdh_sect233r1.h"
#include "field/gf2-233-msp430.h"

#define ORDER_WORD_BITS 16
#define ECDH(name) ecdh_sect233r1_##name
#define SECRET_BYTES ECDH_SECT233R1_SECRET_BYTES
#include "curve/sect233r1-constants.h"

#include "key-agreement/ecdh-core.h"
