/* A word of 64 bits as two of 32 bits, its even bits and its odd bits, so that on a core of 32 bits
   it turns as they turn (Keccak implementation overview, version 3.2, section 2.1). */
#ifndef INTERLEAVE_H
#define INTERLEAVE_H

#include <stdint.h>

/* Exchanges the bits of x under mask with those n places above. */
static inline uint32_t exchange_bits(uint32_t x, unsigned n, uint32_t mask) {
    uint32_t t = (x >> n ^ x) & mask;
    return x ^ t ^ t << n;
}

/* The even bits to the lower half, the odd ones to the upper half. */
static inline uint32_t separate_bits(uint32_t x) {
    x = exchange_bits(x, 1, 0x22222222);
    x = exchange_bits(x, 2, 0x0c0c0c0c);
    x = exchange_bits(x, 4, 0x00f000f0);
    return exchange_bits(x, 8, 0x0000ff00);
}

static inline uint32_t mix_bits(uint32_t x) {
    x = exchange_bits(x, 8, 0x0000ff00);
    x = exchange_bits(x, 4, 0x00f000f0);
    x = exchange_bits(x, 2, 0x0c0c0c0c);
    return exchange_bits(x, 1, 0x22222222);
}

/* Even bits low, odd bits high. */
static inline uint64_t interleave(uint64_t word) {
    uint32_t low = separate_bits((uint32_t)word), high = separate_bits((uint32_t)(word >> 32));
    return (uint64_t)(low >> 16 | (high & 0xffff0000)) << 32 | (low & 0xffff) | high << 16;
}

static inline uint64_t deinterleave(uint64_t word) {
    uint32_t even = (uint32_t)word, odd = (uint32_t)(word >> 32);
    return (uint64_t)mix_bits(even >> 16 | (odd & 0xffff0000)) << 32 |
           mix_bits((even & 0xffff) | odd << 16);
}

#endif
