#define PRESENT_ENCRYPT_IN_ASSEMBLY
#include "block-cipher/present/present-ttable-body.h"
