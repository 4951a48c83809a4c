#include "keccak.h"
#include "permutation/interleave.h"

enum { RATE_LANES = KECCAK_BLOCK_BYTES / 8 };

/* Keccak-p[1600, 24] of FIPS 202, section 3.3; in keccak.S. */
void keccak_f1600(keccak_lane state[25]);

/* Right rotation of the words of the rate's lanes as stored in the state. */
static const uint8_t turned[RATE_LANES][2] = {
    {30, 26}, {23, 22}, {7, 15},  {9, 12},  {20, 19}, {16, 12}, {23, 22}, {28, 31}, {23, 23},
    {16, 24}, {1, 1},   {29, 20}, {11, 14}, {17, 16}, {7, 3},   {26, 26}, {16, 12}};

static uint32_t rotate_right(uint32_t x, unsigned n) {
    return x >> (n & 31) | x << (-n & 31);
}

static inline void absorb(keccak_ctx *ctx, unsigned lane, const uint8_t bytes[8]) {
    uint64_t word =
        interleave((uint64_t)crypto_load_word(bytes + 4) << 32 | crypto_load_word(bytes));
    ctx->state[lane].word[0] ^= rotate_right((uint32_t)word, turned[lane][0]);
    ctx->state[lane].word[1] ^= rotate_right((uint32_t)(word >> 32), turned[lane][1]);
}

static void squeeze(const keccak_ctx *ctx, unsigned lane, uint8_t bytes[8]) {
    uint32_t even = rotate_right(ctx->state[lane].word[0], 32u - turned[lane][0]);
    uint32_t odd = rotate_right(ctx->state[lane].word[1], 32u - turned[lane][1]);
    uint64_t word = deinterleave((uint64_t)odd << 32 | even);
    crypto_store_word(bytes, (uint32_t)word);
    crypto_store_word(bytes + 4, (uint32_t)(word >> 32));
}

void keccak_init(keccak_ctx *ctx) {
    for (unsigned i = 0; i < 25; i++)
        ctx->state[i].word[0] = ctx->state[i].word[1] = 0;
    ctx->fill = 0;
}

void keccak_update(keccak_ctx *ctx, const uint8_t *data, size_t length) {
    unsigned fill = ctx->fill;
    while (length > 0) {
        const uint8_t *lane = data;
        unsigned bytes = 8;
        if (fill % 8 != 0 || length < 8) {
            ctx->pending[fill % 8] = *data;
            lane = ctx->pending;
            bytes = 1;
        }
        fill += bytes;
        data += bytes;
        length -= bytes;
        if (fill % 8 == 0)
            absorb(ctx, fill / 8 - 1, lane);
        if (fill == KECCAK_BLOCK_BYTES) {
            keccak_f1600(ctx->state);
            fill = 0;
        }
    }
    ctx->fill = fill;
}

void keccak_final(keccak_ctx *ctx, uint8_t *digest) {
    unsigned fill = ctx->fill;
    ctx->pending[fill % 8] = KECCAK_SUFFIX;
    for (unsigned i = fill % 8 + 1; i < 8; i++)
        ctx->pending[i] = 0;
    absorb(ctx, fill / 8, ctx->pending);
    /* The padding's last bit is bit 63 of the rate's last lane. */
    ctx->state[RATE_LANES - 1].word[1] ^= rotate_right(0x80000000, turned[RATE_LANES - 1][1]);
    keccak_f1600(ctx->state);
    for (unsigned i = 0; i < KECCAK_DIGEST_BYTES / 8; i++)
        squeeze(ctx, i, digest + 8 * i);
    crypto_wipe(ctx, sizeof *ctx);
}
