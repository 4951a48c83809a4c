#ifndef ARITHMETIC_SECP160R1_H
#define ARITHMETIC_SECP160R1_H

#include "field/secp160r1-armv7m.h"

#define ARITHMETIC(name) arithmetic_secp160r1_##name
#include "curve-arithmetic/prime-functions.h"

enum { ARITHMETIC_SECP160R1_SCALAR_BYTES = 20, ARITHMETIC_SECP160R1_POINT_BYTES = 2 * 20 };

#endif
