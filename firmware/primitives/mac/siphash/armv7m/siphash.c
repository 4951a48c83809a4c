#define SIPHASH_FINISH
#include "siphash-body.h"
