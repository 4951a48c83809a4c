#include "permutation/keccak-f1600-riscv.h"
#include "permutation/keccak-sponge.h"

#include "kem/ml-kem/mlkem-arithmetic.h"
#include "kem/ml-kem/mlkem-transform-32.h"

#include "kem/ml-kem/mlkem-body.h"
