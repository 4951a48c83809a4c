#define KECCAK_RATE_MAX 136
#include "permutation/keccak-f1600-armv7m.h"
#include "permutation/keccak-sponge.h"

#include "signature/slh-dsa/slhdsa-shake.h"

#include "signature/slh-dsa/slhdsa-verify.h"
