#include "wired.h"

void wired_init(wired_ctx *ctx, const uint8_t *key) {
    (void)ctx;
    (void)key;
}

void wired_encrypt(const wired_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) {
    (void)ctx;
    (void)out;
    (void)in;
    (void)blocks;
}

void wired_decrypt(const wired_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks) {
    (void)ctx;
    (void)out;
    (void)in;
    (void)blocks;
}
