#include "permutation/keccak-f1600-msp430.h"
#include "permutation/keccak-sponge.h"

#define MLKEM_OWN_PRODUCTS
#include "kem/ml-kem/mlkem-arithmetic.h"

#include "mlkem-multiplier.h"

#include "kem/ml-kem/mlkem-transform.h"

#include "kem/ml-kem/mlkem-body.h"
