#include "field/p25519-msp430.h"

#include "signature/ed25519/ed25519-core.h"
