#include "ecdh_p256.h"
#include "field/p256-riscv.h"

#define FE_WORD_BITS 32
#define ORDER_WORD_BITS 32
#define ECDH(name) ecdh_p256_##name
#define SECRET_BYTES ECDH_P256_SECRET_BYTES
#include "curve/p256-constants.h"

#include "key-agreement/ecdh-core.h"
