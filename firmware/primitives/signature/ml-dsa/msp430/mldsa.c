#include "permutation/keccak-f1600-msp430.h"
#include "permutation/keccak-sponge.h"

#define MLDSA_OWN_PRODUCTS
#include "mldsa-multiplier.h"

#include "signature/ml-dsa/mldsa-transform.h"

#define MLDSA_KEEPS_CHALLENGE
#include "signature/ml-dsa/mldsa-body.h"
