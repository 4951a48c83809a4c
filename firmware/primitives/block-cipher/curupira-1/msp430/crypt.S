#define ENCRYPT curupira1_encrypt
#define DECRYPT curupira1_decrypt
#define ROUNDS (2 + CURUPIRA1_KEY_BITS / 12)
#include "block-cipher/curupira-2/curupira-crypt-msp430.S"
