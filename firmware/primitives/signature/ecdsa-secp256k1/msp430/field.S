#include "field/secp256k1-msp430.S"
