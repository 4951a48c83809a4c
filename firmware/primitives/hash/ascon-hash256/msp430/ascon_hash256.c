#include "ascon-hash256-sponge.c"
