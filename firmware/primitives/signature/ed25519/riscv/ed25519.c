#include "field/p25519-riscv.h"

#include "signature/ed25519/ed25519-core.h"
