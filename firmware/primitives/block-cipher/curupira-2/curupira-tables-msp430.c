/* Tables of theta after gamma, for curupira-round-msp430.inc; an implementation folder includes
   this. A column (s0, s1, s2) times D is (3 s0 + 2 s1 + 2 s2, 4 s0 + 5 s1 + 4 s2, 6 s0 + 6 s1 + 7
   s2); a word holds rows 0 and 1 of a product, row 0 in its low byte. */
#include "curupira-sbox.h"
#include <stdint.h>

#define MUL4(s) CURUPIRA_MUL2(CURUPIRA_MUL2(s))
#define ENTRY(s) (s)
#define ROW0(s) (CURUPIRA_MUL2(s) ^ (s) | MUL4(s) << 8)
#define ROW1(s) (CURUPIRA_MUL2(s) | (MUL4(s) ^ (s)) << 8)
#define ROW2(s) (CURUPIRA_MUL2(s) | MUL4(s) << 8)
#define SIX(s) (CURUPIRA_MUL2(s) ^ MUL4(s))
#define SEVEN(s) (SIX(s) ^ (s))

const uint8_t curupira2_s[256] = {CURUPIRA_SBOX(ENTRY)};
const uint16_t curupira2_t0[256] = {CURUPIRA_SBOX(ROW0)};
const uint16_t curupira2_t1[256] = {CURUPIRA_SBOX(ROW1)};
const uint16_t curupira2_t2[256] = {CURUPIRA_SBOX(ROW2)};
const uint8_t curupira2_u6[256] = {CURUPIRA_SBOX(SIX)};
const uint8_t curupira2_u7[256] = {CURUPIRA_SBOX(SEVEN)};
