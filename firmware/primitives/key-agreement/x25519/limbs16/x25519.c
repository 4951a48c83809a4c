#define FE_WORD_BITS 16
#include "field/p25519-portable.h"

#include "key-agreement/x25519/x25519-ladder.h"
