#include "block-cipher/curupira-2/curupira-tables-msp430.c"
