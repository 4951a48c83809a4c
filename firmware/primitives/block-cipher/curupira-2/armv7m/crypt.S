#define CURUPIRA_ROUNDS 10
#define CURUPIRA_TABLES curupira2_tables
#define CURUPIRA_S curupira2_s
#define CURUPIRA_ENCRYPT curupira2_encrypt
#define CURUPIRA_DECRYPT curupira2_decrypt
#define CURUPIRA_SCT curupira2_sct
#include "block-cipher/curupira-2/curupira-armv7m.inc"
