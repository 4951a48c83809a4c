#include "permutation/keccak-f1600-armv7m.S"
