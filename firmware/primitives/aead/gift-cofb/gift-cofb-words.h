/* Words of a block, first byte most significant, and a swap of bits: shared by all
   implementations. */
#include "gift_cofb.h"

static inline uint32_t load32(const uint8_t *in) {
#ifdef __ARM_FEATURE_UNALIGNED
    return __builtin_bswap32(crypto_load_word(in));
#else
    return (uint32_t)in[0] << 24 | (uint32_t)in[1] << 16 | (uint32_t)in[2] << 8 | in[3];
#endif
}

static inline void store32(uint8_t *out, uint32_t x) {
#ifdef __ARM_FEATURE_UNALIGNED
    crypto_store_word(out, __builtin_bswap32(x));
#else
    out[0] = (uint8_t)(x >> 24);
    out[1] = (uint8_t)(x >> 16);
    out[2] = (uint8_t)(x >> 8);
    out[3] = (uint8_t)x;
#endif
}

static inline void load_block(uint32_t block[4], const uint8_t *in) {
    for (size_t i = 0; i < 4; i++)
        block[i] = load32(in + 4 * i);
}

static inline void store_block(uint8_t *out, const uint32_t block[4]) {
    for (size_t i = 0; i < 4; i++)
        store32(out + 4 * i, block[i]);
}

/* Swaps the bits of x in mask with those n positions higher. */
static inline uint32_t swap_bits(uint32_t x, uint32_t mask, unsigned n) {
    uint32_t difference = (x ^ x >> n) & mask;
    return x ^ difference ^ difference << n;
}
