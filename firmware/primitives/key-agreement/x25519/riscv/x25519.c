#include "field/p25519-riscv.h"

#define P25519_STEP p25519_step

#include "key-agreement/x25519/x25519-ladder.h"
