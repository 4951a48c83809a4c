#include "field/secp160r1-msp430.S"
