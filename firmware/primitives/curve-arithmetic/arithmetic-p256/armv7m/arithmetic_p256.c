#include "arithmetic_p256.h"

#define FE_WORD_BITS 32
#define ORDER_WORD_BITS 16
#define SECRET_BYTES ARITHMETIC_P256_SCALAR_BYTES
#include "curve/p256-constants.h"

#include "curve-arithmetic/prime-core.h"
