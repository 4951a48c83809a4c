#include "permutation/ascon-p-armv6m.S"
