#include "permutation/ascon-p-armv7m.S"
