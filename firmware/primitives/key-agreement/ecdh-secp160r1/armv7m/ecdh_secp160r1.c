#include "ecdh_secp160r1.h"
#include "field/secp160r1-armv7m.h"

#define FE_WORD_BITS 32
#define ORDER_WORD_BITS 16
#define ECDH(name) ecdh_secp160r1_##name
#define SECRET_BYTES ECDH_SECP160R1_SECRET_BYTES
#include "curve/secp160r1-constants.h"

#include "key-agreement/ecdh-core.h"
