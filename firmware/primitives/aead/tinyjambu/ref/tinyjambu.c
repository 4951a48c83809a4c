#include "tinyjambu-body.h"

/* 32 steps at a time: every tap is at least 32 bits from the end that is filled. The feedback is s0
   ^ s47 ^ ~(s70 & s85) ^ s91 ^ key bit. */
static uint32_t feedback(uint32_t s0, uint32_t s1, uint32_t s2, uint32_t s3,
                         uint32_t inverted_key) {
    return s0 ^ (s1 >> 15 | s2 << 17) ^ ((s2 >> 6 | s3 << 26) & (s2 >> 21 | s3 << 11)) ^
           (s2 >> 27 | s3 << 5) ^ inverted_key;
}

void tinyjambu_permute(const tinyjambu_ctx *ctx, uint32_t s[4], unsigned frame, unsigned steps) {
    const uint32_t *k = ctx->inverted_key;
    uint32_t s0 = s[0], s1 = s[1] ^ frame, s2 = s[2], s3 = s[3];
    for (;;) {
        s0 = feedback(s0, s1, s2, s3, k[0]);
        s1 = feedback(s1, s2, s3, s0, k[1]);
        s2 = feedback(s2, s3, s0, s1, k[2]);
        s3 = feedback(s3, s0, s1, s2, k[3]);
        if (steps <= 128)
            break;
        steps -= 128;
    }
    s[0] = s0;
    s[1] = s1;
    s[2] = s2;
    s[3] = s3;
}
