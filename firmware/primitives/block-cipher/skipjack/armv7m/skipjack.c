#include "skipjack.h"
#include "skipjack-f.h"

/* Not const although nothing changes it: in RAM it does not compete with instruction fetches. */
extern uint8_t skipjack_f[256];
uint8_t skipjack_f[256] = {SKIPJACK_F};

void skipjack_init(skipjack_ctx *ctx, const uint8_t *key) {
    for (unsigned i = 0; i < SKIPJACK_KEY_BYTES; i++)
        ctx->cv[i] = key[i];
    for (unsigned i = SKIPJACK_KEY_BYTES; i < sizeof ctx->cv; i++)
        ctx->cv[i] = ctx->cv[i - SKIPJACK_KEY_BYTES];
}
