#include "permutation/ascon-p-msp430.S"
