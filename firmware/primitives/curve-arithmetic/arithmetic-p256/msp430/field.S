#include "field/p256-msp430.S"
