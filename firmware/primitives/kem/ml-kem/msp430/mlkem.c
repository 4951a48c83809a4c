#include "permutation/keccak-f1600-msp430.h"
#include "permutation/keccak-sponge.h"

#include "kem/ml-kem/mlkem-arithmetic.h"
#include "kem/ml-kem/mlkem-body.h"
