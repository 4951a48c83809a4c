#include "ecdsa_secp256k1.h"

#define FE_WORD_BITS 16
#define ORDER_WORD_BITS 16
#define ECDSA(name) ecdsa_secp256k1_##name
#define SECRET_BYTES ECDSA_SECP256K1_SECRET_BYTES
#define SEED_BYTES 0
#include "curve/secp256k1-constants.h"

#include "signature/ecdsa-core.h"
