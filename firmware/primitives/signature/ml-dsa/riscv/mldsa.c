#include "permutation/keccak-f1600-riscv.h"
#include "permutation/keccak-sponge.h"

#include "signature/ml-dsa/mldsa-montgomery.h"

#include "signature/ml-dsa/mldsa-transform.h"

#define MLDSA_KEEPS_VECTOR
#include "signature/ml-dsa/mldsa-body.h"
