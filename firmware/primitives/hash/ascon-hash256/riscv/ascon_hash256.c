#define ASCON_INTERLEAVED
#include "ascon-hash256-body.h"
