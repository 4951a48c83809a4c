/* Multiplies polynomials as integers whose bits are spread to every third position. At most 6 ones
   are then added in one position, so the sum fits the three bits up to the next position, and its
   lowest bit is the sum modulo 2. Time is independent of secrets on cores whose 32 x 32 to 32 bit
   multiplication takes constant time, such as the Cortex-M3 (MUL, not UMULL). */
#include "gcm.h"

/* Returns the product of two polynomials of 16 bits. */
static inline uint32_t multiply16(uint32_t x, uint32_t y) {
    const uint32_t m0 = 0x49249249, m1 = 0x92492492, m2 = 0x24924924;
    uint32_t x0 = x & m0, x1 = x & m1, x2 = x & m2;
    uint32_t y0 = y & m0, y1 = y & m1, y2 = y & m2;
    uint32_t z0 = (x0 * y0) ^ (x1 * y2) ^ (x2 * y1);
    uint32_t z1 = (x0 * y1) ^ (x1 * y0) ^ (x2 * y2);
    uint32_t z2 = (x0 * y2) ^ (x1 * y1) ^ (x2 * y0);
    return (z0 & m0) | (z1 & m1) | (z2 & m2);
}

/* The same for 32 bits, with Karatsuba's three products. */
__attribute__((noinline)) static uint64_t multiply32(uint32_t x, uint32_t y) {
    uint32_t low = multiply16(x & 0xffff, y & 0xffff), high = multiply16(x >> 16, y >> 16);
    uint32_t middle = multiply16((x ^ x >> 16) & 0xffff, (y ^ y >> 16) & 0xffff) ^ low ^ high;
    return (uint64_t)(high ^ middle >> 16) << 32 | (low ^ middle << 16);
}

/* The same for 64 bits. */
static void multiply64(uint32_t z[4], uint32_t x0, uint32_t x1, uint32_t y0, uint32_t y1) {
    uint64_t low = multiply32(x0, y0), high = multiply32(x1, y1);
    uint64_t middle = multiply32(x0 ^ x1, y0 ^ y1) ^ low ^ high;
    z[0] = (uint32_t)low;
    z[1] = (uint32_t)(low >> 32) ^ (uint32_t)middle;
    z[2] = (uint32_t)high ^ (uint32_t)(middle >> 32);
    z[3] = (uint32_t)(high >> 32);
}

static uint32_t load32(const uint8_t *in) {
    return (uint32_t)in[0] << 24 | (uint32_t)in[1] << 16 | (uint32_t)in[2] << 8 | in[3];
}

static void ghash_set_key(gcm_ctx *ctx, const uint8_t *h) {
    for (size_t i = 0; i < 4; i++)
        ctx->h[i] = load32(h + 12 - 4 * i);
}

static void ghash_multiply(const gcm_ctx *ctx, uint8_t *y) {
    const uint32_t *h = ctx->h;
    uint32_t x[4], z[8], middle[4];
    for (size_t i = 0; i < 4; i++)
        x[i] = load32(y + 12 - 4 * i);
    multiply64(z, x[0], x[1], h[0], h[1]);
    multiply64(z + 4, x[2], x[3], h[2], h[3]);
    multiply64(middle, x[0] ^ x[2], x[1] ^ x[3], h[0] ^ h[2], h[1] ^ h[3]);
    for (size_t i = 0; i < 4; i++)
        middle[i] ^= z[i] ^ z[4 + i];
    for (size_t i = 0; i < 4; i++)
        z[2 + i] ^= middle[i];

    /* The product has 255 bits, the highest of which is x^0: shift up by one. */
    for (size_t i = 7; i > 0; i--)
        z[i] = z[i] << 1 | z[i - 1] >> 31;
    z[0] <<= 1;

    /* x^128 = 1 + x + x^2 + x^7; a right shift multiplies by x. */
    for (size_t i = 0; i < 4; i++) {
        uint32_t word = z[i];
        z[i + 4] ^= word ^ word >> 1 ^ word >> 2 ^ word >> 7;
        z[i + 3] ^= word << 31 ^ word << 30 ^ word << 25;
    }
    for (size_t i = 0; i < 16; i++)
        y[i] = (uint8_t)(z[7 - i / 4] >> (24 - 8 * (i % 4)));
    crypto_wipe(x, sizeof x);
    crypto_wipe(z, sizeof z);
    crypto_wipe(middle, sizeof middle);
}

#include "aead/gcm/gcm-body.h"
