#define TINYJAMBU_CRYPT
#include "tinyjambu-body.h"
