#include "gcm.h"
#include "aead/gcm/gcm-table.h"

/* y = y * H; in ghash.S. */
void ghash_multiply_table(uint8_t *y, const uint32_t *table);

static void ghash_multiply(const gcm_ctx *ctx, uint8_t *y) {
    ghash_multiply_table(y, ctx->table[0]);
}

#include "aead/gcm/gcm-body.h"
