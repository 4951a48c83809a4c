/* A 64-bit word as two 32-bit words, its even bits and its odd bits, so that on a 32-bit core
   rotating these rotates the word (Keccak implementation overview, version 3.2, section 2.1). */
#ifndef INTERLEAVE_H
#define INTERLEAVE_H

#include <stdint.h>

/* Swaps the bits of low that are n positions above mask with those of high under mask. In a bit's
   number, 0 to 63, this swaps the digit of weight 32 with the digit of weight n. */
static inline void exchange_bits(uint32_t *low, uint32_t *high, unsigned n, uint32_t mask) {
    uint32_t t = (*low >> n ^ *high) & mask;
    *high ^= t;
    *low ^= t << n;
}

/* The same for n = 16, which two instructions do where halfwords are packed. */
static inline void exchange_halves(uint32_t *low, uint32_t *high) {
#ifdef __ARM_FEATURE_DSP
    uint32_t l = *low, h = *high;
    __asm__("pkhbt %0, %1, %2, lsl #16" : "=r"(*low) : "r"(l), "r"(h));
    __asm__("pkhtb %0, %1, %2, asr #16" : "=r"(*high) : "r"(h), "r"(l));
#elif defined __riscv_zbkb
    uint32_t l = *low, h = *high;
    __asm__("pack %0, %1, %2" : "=r"(*low) : "r"(l), "r"(h));
    __asm__("pack %0, %1, %2" : "=r"(*high) : "r"(l >> 16), "r"(h >> 16));
#else
    exchange_bits(low, high, 16, 0x0000ffff);
#endif
}

#ifdef __riscv_zbkb
/* Each half's even bits low, its odd bits high. */
static inline uint32_t unzip_bits(uint32_t half) {
    __asm__("unzip %0, %0" : "+r"(half));
    return half;
}

static inline uint32_t zip_bits(uint32_t half) {
    __asm__("zip %0, %0" : "+r"(half));
    return half;
}
#endif

/* Even bits low, odd bits high: the lowest digit of a bit's number becomes the highest. */
static inline uint64_t interleave(uint64_t word) {
    uint32_t low = (uint32_t)word, high = (uint32_t)(word >> 32);
#ifdef __riscv_zbkb
    low = unzip_bits(low), high = unzip_bits(high);
    exchange_halves(&low, &high);
#else
    exchange_halves(&low, &high);
    exchange_bits(&low, &high, 8, 0x00ff00ff);
    exchange_bits(&low, &high, 4, 0x0f0f0f0f);
    exchange_bits(&low, &high, 2, 0x33333333);
    exchange_bits(&low, &high, 1, 0x55555555);
#endif
    return (uint64_t)high << 32 | low;
}

static inline uint64_t deinterleave(uint64_t word) {
    uint32_t low = (uint32_t)word, high = (uint32_t)(word >> 32);
#ifdef __riscv_zbkb
    exchange_halves(&low, &high);
    low = zip_bits(low), high = zip_bits(high);
#else
    exchange_bits(&low, &high, 1, 0x55555555);
    exchange_bits(&low, &high, 2, 0x33333333);
    exchange_bits(&low, &high, 4, 0x0f0f0f0f);
    exchange_bits(&low, &high, 8, 0x00ff00ff);
    exchange_halves(&low, &high);
#endif
    return (uint64_t)high << 32 | low;
}

#endif
