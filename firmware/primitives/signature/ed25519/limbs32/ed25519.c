#define FE_WORD_BITS 32
#include "field/p25519-portable.h"

#include "signature/ed25519/ed25519-core.h"
