#include "field/p25519-msp430.h"

#include "key-agreement/x25519/x25519-ladder.h"
