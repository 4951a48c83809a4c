#include "ecdh_secp256k1.h"

#define FE_WORD_BITS 16
#define ORDER_WORD_BITS 16
#define ECDH(name) ecdh_secp256k1_##name
#define SECRET_BYTES ECDH_SECP256K1_SECRET_BYTES
#include "curve/secp256k1-constants.h"

#include "key-agreement/ecdh-core.h"
