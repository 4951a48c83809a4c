#define CURUPIRA_TABLES curupira2_tables
#include "block-cipher/curupira-2/curupira-tables-armv7m.c"
