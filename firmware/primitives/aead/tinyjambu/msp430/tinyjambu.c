#include "tinyjambu-core.c"
