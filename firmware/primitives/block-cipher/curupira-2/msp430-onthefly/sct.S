#define SCT curupira2_sct
#include "block-cipher/curupira-2/curupira-sct-msp430.S"
