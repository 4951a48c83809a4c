#include "permutation/keccak-f1600-msp430.S"
