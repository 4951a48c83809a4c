#include "arithmetic_secp160r1.h"

#define FE_WORD_BITS 32
#define ORDER_WORD_BITS 16
#define SECRET_BYTES ARITHMETIC_SECP160R1_SCALAR_BYTES
#include "curve/secp160r1-constants.h"

#include "curve-arithmetic/prime-core.h"
