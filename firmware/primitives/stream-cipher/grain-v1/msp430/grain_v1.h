/* Grain v1 for the MSP430, 16 steps at a time. */
#ifndef GRAIN_V1_H
#define GRAIN_V1_H

#include "stream-cipher.h"

enum { GRAIN_V1_KEY_BYTES = 10, GRAIN_V1_NONCE_BYTES = 8, GRAIN_V1_ROOM = 16 };

/* Each register holds the last words of the bit sequence that entered it, oldest bit lowest.
   Nothing is shifted: the window advances by a word every 16 steps, and returns to the start when
   the room is used up. steps.S uses these offsets. */
typedef struct {
    uint16_t b[5 + GRAIN_V1_ROOM]; /* b_i to b_(i+79), then room */
    uint16_t s[5 + GRAIN_V1_ROOM];
    uint8_t at;       /* words that the window has advanced */
    uint8_t has_byte; /* whether half a word of key stream is left over */
    uint8_t byte;
} grain_v1_ctx;

void grain_v1_init(grain_v1_ctx *ctx, const uint8_t *key, const uint8_t *nonce);
void grain_v1_encrypt(grain_v1_ctx *ctx, uint8_t *out, const uint8_t *in, size_t length);

#endif
