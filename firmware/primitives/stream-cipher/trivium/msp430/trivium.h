/* Trivium for the MSP430, 16 steps at a time. */
#ifndef TRIVIUM_H
#define TRIVIUM_H

#include "stream-cipher.h"

enum { TRIVIUM_KEY_BYTES = 10, TRIVIUM_NONCE_BYTES = 10, TRIVIUM_ROOM = 16 };

/* Each register is the last words of the sequence of bits that entered it, the oldest bit lowest,
   so that nothing is shifted: the window moves on by a word with 16 steps, and back to the start
   when there is no more room. steps.S knows these offsets. */
typedef struct {
    uint16_t a[6 + TRIVIUM_ROOM]; /* s_1 to s_93: s_i is bit -i of the sequence */
    uint16_t b[6 + TRIVIUM_ROOM]; /* s_94 to s_177 */
    uint16_t c[7 + TRIVIUM_ROOM]; /* s_178 to s_288 */
    uint8_t at;                   /* words that the window has moved */
    uint8_t has_byte;             /* whether half a word of keystream is left over */
    uint8_t byte;
} trivium_ctx;

void trivium_init(trivium_ctx *ctx, const uint8_t *key, const uint8_t *nonce);
void trivium_encrypt(trivium_ctx *ctx, uint8_t *out, const uint8_t *in, size_t length);

#endif
