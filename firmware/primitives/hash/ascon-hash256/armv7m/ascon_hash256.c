#define ASCON_INTERLEAVED
#include "ascon-hash256-sponge.c"
