#include "curupira-tables-msp430.c"
