/* Grain v1 for the MSP430, 16 steps at a time. */
#ifndef GRAIN_V1_H
#define GRAIN_V1_H

#include "stream-cipher.h"

enum { GRAIN_V1_KEY_BYTES = 10, GRAIN_V1_NONCE_BYTES = 8, GRAIN_V1_ROOM = 16 };

/* Each register is the last words of the sequence of bits that entered it, the oldest bit lowest,
   so that nothing is shifted: the window moves on by a word with 16 steps, and back to the start
   when there is no more room. steps.S knows these offsets. */
typedef struct {
    uint16_t b[5 + GRAIN_V1_ROOM]; /* b_i to b_(i+79), then room */
    uint16_t s[5 + GRAIN_V1_ROOM];
    uint8_t at;       /* words that the window has moved */
    uint8_t has_byte; /* whether half a word of keystream is left over */
    uint8_t byte;
} grain_v1_ctx;

void grain_v1_init(grain_v1_ctx *ctx, const uint8_t *key, const uint8_t *nonce);
void grain_v1_encrypt(grain_v1_ctx *ctx, uint8_t *out, const uint8_t *in, size_t length);

#endif
