#include "permutation/keccak-f1600-ref.h"
#include "permutation/keccak-sponge.h"

#include "kem/ml-kem/mlkem-arithmetic.h"
#include "kem/ml-kem/mlkem-transform.h"

#include "kem/ml-kem/mlkem-body.h"
