#include "skipjack.h"
#include "skipjack-f.h"

static const uint8_t f[256] = {SKIPJACK_F};

/* cv[4 k], cv[4 k + 1], ... modulo 10: `at` is the index of the first of four. */
static unsigned next(unsigned at) {
    return at == 9 ? 0 : at + 1;
}

static unsigned previous(unsigned at) {
    return at == 0 ? 9 : at - 1;
}

/* G: four Feistel rounds on bytes; advances *at to the next step. */
static uint16_t g(const uint8_t *cv, unsigned *at, uint16_t w) {
    uint8_t high = (uint8_t)(w >> 8), low = (uint8_t)w;
    for (unsigned i = 0; i < 2; i++) {
        high ^= f[low ^ cv[*at]];
        *at = next(*at);
        low ^= f[high ^ cv[*at]];
        *at = next(*at);
    }
    return (uint16_t)((unsigned)high << 8 | low);
}

static uint16_t g_inverse(const uint8_t *cv, unsigned *at, uint16_t w) {
    uint8_t high = (uint8_t)(w >> 8), low = (uint8_t)w;
    for (unsigned i = 0; i < 2; i++) {
        *at = previous(*at);
        low ^= f[high ^ cv[*at]];
        *at = previous(*at);
        high ^= f[low ^ cv[*at]];
    }
    return (uint16_t)((unsigned)high << 8 | low);
}

static void load(uint16_t w[4], const uint8_t *in) {
    for (unsigned i = 0; i < 4; i++)
        w[i] = (uint16_t)((unsigned)in[2 * i] << 8 | in[2 * i + 1]);
}

static void store(uint8_t *out, const uint16_t w[4]) {
    for (unsigned i = 0; i < 4; i++) {
        out[2 * i] = (uint8_t)(w[i] >> 8);
        out[2 * i + 1] = (uint8_t)w[i];
    }
}

void skipjack_init(skipjack_ctx *ctx, const uint8_t *key) {
    for (unsigned i = 0; i < SKIPJACK_KEY_BYTES; i++)
        ctx->cv[i] = key[i];
}

/* The counter runs from 1 to 32; steps 1 to 8 and 17 to 24 use rule A, the others rule B. */
static int is_rule_a(unsigned counter) {
    return ((counter - 1) & 8) == 0;
}

void skipjack_encrypt(const skipjack_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) {
    uint16_t w[4];
    for (; blocks > 0; blocks--, in += SKIPJACK_BLOCK_BYTES, out += SKIPJACK_BLOCK_BYTES) {
        unsigned at = 0;
        load(w, in);
        for (unsigned counter = 1; counter <= 32; counter++) {
            uint16_t t = g(ctx->cv, &at, w[0]), w1 = w[0];
            w[0] = is_rule_a(counter) ? (uint16_t)(t ^ w[3] ^ counter) : w[3];
            w[3] = w[2];
            w[2] = is_rule_a(counter) ? w[1] : (uint16_t)(w1 ^ w[1] ^ counter);
            w[1] = t;
        }
        store(out, w);
    }
    crypto_wipe(w, sizeof w);
}

void skipjack_decrypt(const skipjack_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) {
    uint16_t w[4];
    for (; blocks > 0; blocks--, in += SKIPJACK_BLOCK_BYTES, out += SKIPJACK_BLOCK_BYTES) {
        unsigned at = 32 * 4 % SKIPJACK_KEY_BYTES;
        load(w, in);
        for (unsigned counter = 32; counter >= 1; counter--) {
            uint16_t t = w[1], w1 = g_inverse(ctx->cv, &at, t);
            w[1] = is_rule_a(counter) ? w[2] : (uint16_t)(w1 ^ w[2] ^ counter);
            w[2] = w[3];
            w[3] = is_rule_a(counter) ? (uint16_t)(w[0] ^ t ^ counter) : w[0];
            w[0] = w1;
        }
        store(out, w);
    }
    crypto_wipe(w, sizeof w);
}
