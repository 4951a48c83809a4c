#define FE_WORD_BITS 32
#include "field/p25519-portable.h"

#include "key-agreement/x25519/x25519-ladder.h"
