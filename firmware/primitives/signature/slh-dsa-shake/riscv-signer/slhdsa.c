#include "permutation/keccak-f1600-riscv.h"
#include "permutation/keccak-sponge.h"

#include "signature/slh-dsa/slhdsa-shake.h"

#include "signature/slh-dsa/slhdsa-sign.h"
