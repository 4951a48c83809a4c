#define ENCRYPT curupira2_encrypt
#define DECRYPT curupira2_decrypt
#define ROUNDS 10
#include "block-cipher/curupira-2/curupira-crypt-msp430.S"
