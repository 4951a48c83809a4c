#define CURUPIRA_TABLES curupira1_tables
#define CURUPIRA_S curupira1_s
#include "block-cipher/curupira-2/curupira-tables-armv7m.c"
