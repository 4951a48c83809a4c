#define KECCAK_RATE_MAX 168
#include "permutation/keccak-f1600-armv7m.h"
#include "permutation/keccak-sponge.h"

#include "kem/ml-kem/mlkem-arithmetic.h"
#include "kem/ml-kem/mlkem-transform-dsp.h"

#define MLKEM_DSP
#include "kem/ml-kem/mlkem-body.h"
