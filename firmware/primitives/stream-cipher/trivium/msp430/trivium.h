/* Trivium for the MSP430, 16 steps at a time. */
#ifndef TRIVIUM_H
#define TRIVIUM_H

#include "stream-cipher.h"

enum { TRIVIUM_KEY_BYTES = 10, TRIVIUM_NONCE_BYTES = 10, TRIVIUM_ROOM = 16 };

/* Each register holds the last words of the bit sequence that entered it, oldest bit lowest.
   Nothing is shifted: the window advances by a word every 16 steps, and returns to the start when
   the room is used up. steps.S uses these offsets. */
typedef struct {
    uint16_t a[6 + TRIVIUM_ROOM]; /* s_1 to s_93: s_i is bit -i of the sequence */
    uint16_t b[6 + TRIVIUM_ROOM]; /* s_94 to s_177 */
    uint16_t c[7 + TRIVIUM_ROOM]; /* s_178 to s_288 */
    uint8_t at;                   /* words that the window has advanced */
    uint8_t has_byte;             /* whether half a word of key stream is left over */
    uint8_t byte;
} trivium_ctx;

void trivium_init(trivium_ctx *ctx, const uint8_t *key, const uint8_t *nonce);
void trivium_encrypt(trivium_ctx *ctx, uint8_t *out, const uint8_t *in, size_t length);

#endif
