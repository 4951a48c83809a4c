#include "arithmetic_secp160r1.h"

#define SECRET_BYTES ARITHMETIC_SECP160R1_SCALAR_BYTES
#include "curve/secp160r1-easy-constants.h"

#include "curve-arithmetic/easy-core.h"
