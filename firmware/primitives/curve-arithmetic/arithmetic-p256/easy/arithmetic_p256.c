#include "arithmetic_p256.h"

#define SECRET_BYTES ARITHMETIC_P256_SCALAR_BYTES
#include "curve/p256-easy-constants.h"

#include "curve-arithmetic/easy-core.h"
