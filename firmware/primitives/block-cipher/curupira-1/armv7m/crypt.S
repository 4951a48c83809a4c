#define CURUPIRA_ROUNDS (2 + CURUPIRA1_KEY_BITS / 12)
#define CURUPIRA_TABLES curupira1_tables
#define CURUPIRA_S curupira1_s
#define CURUPIRA_ENCRYPT curupira1_encrypt
#define CURUPIRA_DECRYPT curupira1_decrypt
#define CURUPIRA_SCT curupira1_sct
#include "block-cipher/curupira-2/curupira-armv7m.inc"
