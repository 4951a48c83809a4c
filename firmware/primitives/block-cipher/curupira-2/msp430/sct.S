#include "curupira-sct-msp430.S"
