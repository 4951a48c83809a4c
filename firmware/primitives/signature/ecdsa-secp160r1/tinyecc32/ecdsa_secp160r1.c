#include "ecdsa_secp160r1.h"

#define FE_WORD_BITS 32
#define ORDER_WORD_BITS 32
#define ECDSA(name) ecdsa_secp160r1_##name
#define SECRET_BYTES ECDSA_SECP160R1_SECRET_BYTES
#define SEED_BYTES ECDSA_SECP160R1_SEED_BYTES
#define CURVE_HEADER "curve/windows.h"
#include "curve/secp160r1-constants.h"

#include "signature/ecdsa-core.h"
