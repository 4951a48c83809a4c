#define KECCAK_RATE_MAX 168
#include "permutation/keccak-f1600-armv7m.h"
#include "permutation/keccak-sponge.h"

#ifdef __ARM_FEATURE_DSP /* a Cortex-M4, whose products of 64 bits take one cycle */
#include "signature/ml-dsa/mldsa-montgomery.h"
#else
#include "signature/ml-dsa/mldsa-barrett.h"
#endif

#include "signature/ml-dsa/mldsa-transform.h"

#include "signature/ml-dsa/mldsa-body.h"
