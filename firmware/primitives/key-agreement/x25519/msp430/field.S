#include "field/p25519-msp430.S"
