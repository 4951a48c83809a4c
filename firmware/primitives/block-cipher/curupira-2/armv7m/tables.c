#define CURUPIRA_TABLES curupira2_tables
#define CURUPIRA_S curupira2_s
#include "block-cipher/curupira-2/curupira-tables-armv7m.c"
