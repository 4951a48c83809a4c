#include "ecdh_secp160r1.h"

#define FE_WORD_BITS 16
#define ORDER_WORD_BITS 16
#define ECDH(name) ecdh_secp160r1_##name
#define SECRET_BYTES ECDH_SECP160R1_SECRET_BYTES
#define CURVE_HEADER "curve/windows.h"
#include "curve/secp160r1-constants.h"

#include "key-agreement/ecdh-core.h"
