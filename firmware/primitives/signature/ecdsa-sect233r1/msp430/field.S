#include "field/gf2-233-msp430.S"
