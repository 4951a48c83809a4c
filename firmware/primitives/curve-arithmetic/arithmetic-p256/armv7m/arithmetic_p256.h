#ifndef ARITHMETIC_P256_H
#define ARITHMETIC_P256_H

#include "field/p256-armv7m.h"

#define ARITHMETIC(name) arithmetic_p256_##name
#include "curve-arithmetic/prime-functions.h"

enum { ARITHMETIC_P256_SCALAR_BYTES = 32, ARITHMETIC_P256_POINT_BYTES = 2 * 32 };

#endif
