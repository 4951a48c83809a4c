#define KECCAK_RATE_MAX 168
#include "permutation/keccak-f1600-armv7m.h"
#include "permutation/keccak-sponge.h"

#include "signature/ml-dsa/mldsa-montgomery.h"

#include "signature/ml-dsa/mldsa-transform.h"

#define MLDSA_KEEPS_VECTOR
#include "signature/ml-dsa/mldsa-body.h"
