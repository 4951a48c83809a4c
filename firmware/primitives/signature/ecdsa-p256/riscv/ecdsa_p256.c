#include "ecdsa_p256.h"
#include "field/p256-riscv.h"

#define FE_WORD_BITS 32
#define ORDER_WORD_BITS 32
#define ECDSA(name) ecdsa_p256_##name
#define SECRET_BYTES ECDSA_P256_SECRET_BYTES
#define SEED_BYTES ECDSA_P256_SEED_BYTES
#include "curve/p256-constants.h"

#include "signature/ecdsa-core.h"
