#define CHACHA20_XOR
#include "chacha20-body.h"
