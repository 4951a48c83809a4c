#define KECCAK_RATE_MAX 168
#include "permutation/keccak-f1600-ref.h"
#include "permutation/keccak-sponge.h"

#include "signature/ml-dsa/mldsa-barrett.h"

#include "signature/ml-dsa/mldsa-transform.h"

#include "signature/ml-dsa/mldsa-body.h"
