#include "ascon-hash256-sponge.h"
