#include "ecdsa_sect233r1.h"
#include "field/gf2-233-msp430.h"

#define ORDER_WORD_BITS 16
#define ECDSA(name) ecdsa_sect233r1_##name
#define SECRET_BYTES ECDSA_SECT233R1_SECRET_BYTES
#define SEED_BYTES 0
#include "curve/sect233r1-constants.h"

#include "signature/ecdsa-core.h"
