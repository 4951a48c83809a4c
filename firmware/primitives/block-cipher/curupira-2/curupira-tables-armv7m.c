/* Tables for curupira-armv7m.inc; the including file defines CURUPIRA_TABLES, their name. A column
   (s0, s1, s2) times D is (3 s0 + 2 s1 + 2 s2, 4 s0 + 5 s1 + 4 s2, 6 s0 + 6 s1 + 7 s2). */
#include "block-cipher/curupira-2/curupira-armv7m.h"

#define MUL4(s) CURUPIRA_MUL2(CURUPIRA_MUL2(s))
#define MUL6(s) (MUL4(s) ^ CURUPIRA_MUL2(s))
#define ROW0(s) CURUPIRA_COLUMN(CURUPIRA_MUL2(s) ^ (s), MUL4(s), MUL6(s))
#define ROW1(s) CURUPIRA_COLUMN(CURUPIRA_MUL2(s), MUL4(s) ^ (s), MUL6(s))
#define ROW2(s) CURUPIRA_COLUMN(CURUPIRA_MUL2(s), MUL4(s), MUL6(s) ^ (s))

/* Not const although nothing changes it: in RAM it does not compete with instruction fetches. The
   S-box is used in only one round. */
extern uint32_t CURUPIRA_TABLES[3][256];
uint32_t CURUPIRA_TABLES[3][256] = {
    {CURUPIRA_SBOX(ROW0)}, {CURUPIRA_SBOX(ROW1)}, {CURUPIRA_SBOX(ROW2)}};

extern const uint8_t CURUPIRA_S[256];
const uint8_t CURUPIRA_S[256] = {CURUPIRA_SBOX(CURUPIRA_ENTRY)};
